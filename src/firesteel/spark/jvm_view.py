"""Spark's driver process, the JVM, as its own management beans describe it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from firesteel.runtime.processes import Collector, JvmView, ThreadView

_NAME: Final = re.compile(r'"(.*)"')
_BUFFERS: Final = ("direct", "mapped")


def jvm_view(session: Any, *, threads: bool) -> JvmView:
    """Return the memory and the collectors of a session's JVM, and its threads if they are asked for."""
    jvm = session.sparkContext._jvm
    beans = jvm.java.lang.management.ManagementFactory
    memory = beans.getMemoryMXBean()
    figures = {
        **_usage("heap", memory.getHeapMemoryUsage()),
        **_usage("nonHeap", memory.getNonHeapMemoryUsage()),
    }
    for memory_pool in beans.getMemoryPoolMXBeans():
        if memory_pool.getName() == "Metaspace":
            figures |= _usage("metaspace", memory_pool.getUsage())
    pools = beans.getPlatformMXBeans(jvm.java.lang.Class.forName("java.lang.management.BufferPoolMXBean"))
    for pool in pools:
        if (name := pool.getName()) in _BUFFERS:
            figures |= {
                f"{name}Count": pool.getCount(),
                f"{name}Used": pool.getMemoryUsed(),
                f"{name}Max": pool.getTotalCapacity(),
            }
    collectors = tuple(
        Collector(bean.getName().replace(" ", "_"), bean.getCollectionCount(), bean.getCollectionTime())
        for bean in beans.getGarbageCollectorMXBeans()
    )
    return JvmView(figures, collectors, tuple(_threads(beans)) if threads else ())


def _usage(name: str, usage: Any) -> dict[str, int]:
    return {
        f"{name}Used": usage.getUsed(),
        f"{name}Committed": usage.getCommitted(),
        f"{name}Max": usage.getMax(),
    }


def _threads(beans: Any) -> Iterator[ThreadView]:
    for info in beans.getThreadMXBean().dumpAllThreads(False, False):
        text = info.toString()
        found = _NAME.match(text)
        yield ThreadView(found[1] if found else "?", text)
