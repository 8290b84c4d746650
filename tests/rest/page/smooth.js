// What a browser tells of itself while a page is used: frames, long tasks, how long users wait, and what was sent.
(() => {
  const LONGEST = 60_000;
  const seen = { gap: 0, last: 0, tasks: [], inputs: [] };

  /** Resolve to the milliseconds from `since` until so many of something are there, and were painted. */
  const when = (selector, count, since) =>
    new Promise((resolve, reject) => {
      const look = (now) => {
        const found = document.querySelectorAll(selector).length;
        if (found === count) requestAnimationFrame(() => resolve(performance.now() - since));
        else if (now - since > LONGEST) reject(new Error(`${found} of ${count} are there: ${selector}`));
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });

  window.smooth = {
    when,
    reset() {
      Object.assign(seen, { gap: 0, last: 0, tasks: [], inputs: [] });
      performance.clearResourceTimings();
    },
    found() {
      const fetched = performance.getEntriesByType("resource").filter((each) => each.initiatorType === "fetch");
      const answers = fetched.map((each) => [new URL(each.name).pathname, each.encodedBodySize, each.decodedBodySize, each.duration]);
      return { gap: seen.gap, tasks: seen.tasks, input: Math.max(0, ...seen.inputs), answers };
    },
    /** Wait for the next event of a type, and from then on until so many of something are there. */
    expect(type, selector, count) {
      window.smooth.answer = new Promise((resolve) => {
        const begin = (event) => resolve(when(selector, count, event.timeStamp));
        addEventListener(type, begin, { once: true, capture: true });
      });
    },
    /** Scroll through all of an element; return the names that were there, each once. */
    async through(selector, names) {
      const place = document.querySelector(selector);
      const found = new Set();
      for (let top = 0; top < place.scrollHeight; top += place.clientHeight) {
        for (let left = 0; left < place.scrollWidth; left += place.clientWidth) {
          place.scrollTo(left, top);
          await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
          for (const name of document.querySelectorAll(names)) found.add(name.textContent);
        }
      }
      place.scrollTo(0, 0);
      return [...found];
    },
    paint: new Promise((resolve) => {
      new PerformanceObserver((list) => {
        const [paint] = list.getEntriesByName("first-contentful-paint");
        if (paint) resolve(paint.startTime);
      }).observe({ type: "paint", buffered: true });
    }),
  };

  new PerformanceObserver((list) => seen.tasks.push(...list.getEntries().map((each) => each.duration))).observe({ type: "longtask" });
  new PerformanceObserver((list) => {
    seen.inputs.push(...list.getEntries().filter((each) => each.interactionId > 0).map((each) => each.duration));
  }).observe({ type: "event", durationThreshold: 16 });
  const frame = (now) => {
    if (seen.last > 0) seen.gap = Math.max(seen.gap, now - seen.last);
    seen.last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})();
