"""Syntax back to text that Flink parses to the same syntax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp, generator

from firesteel.sql import nodes


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


class FlinkGenerator(generator.Generator):
    """Writes what Flink's own nodes stand for; a method per node, named after it."""

    JOIN_HINTS = True
    TABLE_HINTS = True
    SUPPORTS_BETWEEN_FLAGS = True

    def _list(self, items: list[exp.Expr] | None) -> str:
        return ", ".join(self.sql(item) for item in items or [])

    def _aliased(self, text: str, node: exp.Expr) -> str:
        alias = self.sql(node, "alias")
        joins = "".join(self.sql(join) for join in node.args.get("joins") or [])
        return f"{text} AS {alias}{joins}" if alias else f"{text}{joins}"

    def call_sql(self, node: nodes.Call) -> str:
        name = ".".join(self.sql(part) for part in node.args["names"])
        if node.args.get("bare"):
            return name
        quantifier = node.args.get("quantifier")
        arguments = self._list(node.args.get("expressions"))
        return f"{name}({quantifier + ' ' if quantifier else ''}{arguments})"

    def specialcall_sql(self, node: nodes.SpecialCall) -> str:
        parts = []
        for word, value in zip(node.args["words"], node.args.get("expressions") or [], strict=True):
            parts.append(f"{word} {self.sql(value)}".strip())
        parts.append(node.args.get("tail") or "")
        return f"{node.this}({' '.join(filter(None, parts))})"

    def namedargument_sql(self, node: nodes.NamedArgument) -> str:
        return f"{self.sql(node, 'this')} => {self.sql(node, 'expression')}"

    def defaultargument_sql(self, _: nodes.DefaultArgument) -> str:
        return "DEFAULT"

    def tableargument_sql(self, node: nodes.TableArgument) -> str:
        text = self.sql(node, "this")
        if isinstance(node.this, exp.Table):
            text = f"TABLE {text}"
        if keys := node.args.get("partition_by"):
            text += f" PARTITION BY ({self._list(keys)})"
        if order := node.args.get("order"):
            text += f" ORDER BY ({self._list(order.expressions)})"
        return text

    def modelargument_sql(self, node: nodes.ModelArgument) -> str:
        return f"MODEL {self.sql(node, 'this')}"

    def tablefunction_sql(self, node: nodes.TableFunction) -> str:
        text = self.sql(node, "this")
        if node.args.get("table"):
            text = f"TABLE({text})"
        if epoch := self.sql(node, "epoch"):
            text = f"{text} AS OF EPOCH {epoch}"
        return self._aliased(f"{'LATERAL ' if node.args.get('lateral') else ''}{text}", node)

    def unnesttable_sql(self, node: nodes.UnnestTable) -> str:
        lateral = "LATERAL " if node.args.get("lateral") else ""
        ordinality = " WITH ORDINALITY" if node.args.get("ordinality") else ""
        return self._aliased(f"{lateral}UNNEST({self._list(node.expressions)}){ordinality}", node)

    def lateralquery_sql(self, node: nodes.LateralQuery) -> str:
        return self._aliased(f"LATERAL {self.sql(node, 'this')}", node)

    def typedliteral_sql(self, node: nodes.TypedLiteral) -> str:
        return f"{node.args['kind']} {_text(node.this)}"

    def intervalliteral_sql(self, node: nodes.IntervalLiteral) -> str:
        sign = "-" if node.args.get("negative") else ""
        return f"INTERVAL {sign}{_text(node.this)} {self._qualifier(node)}"

    def timedifference_sql(self, node: nodes.TimeDifference) -> str:
        return f"({self.sql(node, 'this')}) {self._qualifier(node)}"

    def _qualifier(self, node: exp.Expr) -> str:
        text = f"{node.args['unit']}{self.sql(node, 'precision')}"
        if end := node.args.get("end_unit"):
            text += f" TO {end}{self.sql(node, 'end_precision')}"
        return text

    def unknown_sql(self, _: nodes.Unknown) -> str:
        return "UNKNOWN"

    def iskind_sql(self, node: nodes.IsKind) -> str:
        negated = "NOT " if node.args.get("negated") else ""
        return f"{self.sql(node, 'this')} IS {negated}{node.args['kind']}"

    def constructor_sql(self, node: nodes.Constructor) -> str:
        if query := node.args.get("query"):
            return f"{node.this}{self.sql(query)}"
        return f"{node.this}[{self._list(node.expressions)}]"

    def measured_sql(self, node: nodes.Measured) -> str:
        return f"{node.args['kind']} {self.sql(node, 'this')}"

    def nulltreatment_sql(self, node: nodes.NullTreatment) -> str:
        return f"{self.sql(node, 'this')} {node.args['kind']} NULLS"

    def typename_sql(self, node: nodes.TypeName) -> str:
        text = self._type(node)
        nullable = node.args.get("nullable")
        return text if nullable is None else f"{text} {'NULL' if nullable else 'NOT NULL'}"

    def _type(self, node: nodes.TypeName) -> str:
        name = str(node.this)
        fields = node.args.get("fields")
        if name == "STRUCTURED":
            return f"STRUCTURED<{self._list([*node.args['arguments'], *(fields or [])])}>"
        if name == "ROW":
            return f"ROW<{self._list(fields)}>"
        if elements := node.args.get("elements"):
            return f"{name}<{self._list(elements)}>"
        inside = node.args.get("parameters") or node.args.get("arguments")
        return f"{name}({self._list(inside)})" if inside else name

    def typefield_sql(self, node: nodes.TypeField) -> str:
        comment = node.args.get("comment")
        text = f"{self.sql(node, 'this')} {self.sql(node, 'kind')}"
        return text if comment is None else f"{text} {_text(comment)}"

    def hint_sql(self, expression: exp.Hint) -> str:
        return f" /*+ {self._list(expression.expressions)} */"

    def hintcall_sql(self, node: nodes.HintCall) -> str:
        name = self.sql(node, "this")
        return f"{name}({self._list(node.expressions)})" if node.args.get("parentheses") else name

    def hintoption_sql(self, node: nodes.HintOption) -> str:
        return f"{self.sql(node, 'this')} = {self.sql(node, 'expression')}"

    def rowpattern_sql(self, node: nodes.RowPattern) -> str:
        return self._aliased(f"{self.sql(node, 'this')} MATCH_RECOGNIZE ({self._match(node)})", node)

    def _match(self, node: nodes.RowPattern) -> str:
        args: dict[str, Any] = node.args
        start, end = "^ " if args.get("anchored_start") else "", " $" if args.get("anchored_end") else ""
        define = ", ".join(
            f"{self.sql(item, 'alias')} AS {self.sql(item, 'this')}" for item in args["define"]
        )
        after = " ".join(self.sql(item) for item in args["after"].expressions) if args.get("after") else ""
        clauses = [
            ("PARTITION BY ", self._list(args.get("partition_by"))),
            ("", self.sql(node, "order").strip()),
            ("MEASURES ", self._list(args.get("measures"))),
            ("", args.get("rows") or ""),
            ("", "WITH TIMED OUT MATCHES" if args.get("timed_out") else ""),
            ("AFTER MATCH SKIP ", after),
            ("PATTERN ", f"({start}{self.sql(node, 'pattern')}{end})"),
            ("WITHIN ", self.sql(node, "within")),
            ("SUBSET ", self._list(args.get("subsets"))),
            ("DEFINE ", define),
        ]
        return " ".join(f"{word}{text}" for word, text in clauses if text)

    def patternsubset_sql(self, node: nodes.PatternSubset) -> str:
        return f"{self.sql(node, 'this')} = ({self._list(node.expressions)})"

    def patternsequence_sql(self, node: nodes.PatternSequence) -> str:
        return " ".join(self.sql(item) for item in node.expressions)

    def patternchoice_sql(self, node: nodes.PatternChoice) -> str:
        return " | ".join(self.sql(item) for item in node.expressions)

    def patternpermutation_sql(self, node: nodes.PatternPermutation) -> str:
        return f"PERMUTE({self._list(node.expressions)})"

    def patternexclusion_sql(self, node: nodes.PatternExclusion) -> str:
        return f"{{- {self.sql(node, 'this')} -}}"

    def patterngroup_sql(self, node: nodes.PatternGroup) -> str:
        return f"({self.sql(node, 'this')})"

    def patternrepeat_sql(self, node: nodes.PatternRepeat) -> str:
        low, high = self.sql(node, "low"), self.sql(node, "high")
        simple = {("0", ""): "*", ("1", ""): "+", ("0", "1"): "?"}
        exact = f"{{{low}}}" if low == high else f"{{{low},{high}}}"
        reluctant = "?" if node.args.get("reluctant") else ""
        return f"{self.sql(node, 'this')}{simple.get((low, high), exact)}{reluctant}"

    def not_sql(self, expression: exp.Not) -> str:
        inner = expression.this
        if isinstance(inner, exp.Escape):
            return f"{self._ranged(inner.this, 'NOT ')} ESCAPE {self.sql(inner, 'expression')}"
        if isinstance(inner, exp.Is):
            return f"{self.sql(inner, 'this')} IS NOT {self.sql(inner, 'expression')}"
        if isinstance(inner, (exp.In, exp.Between, exp.Like, exp.ILike, exp.SimilarTo)):
            return self._ranged(inner, "NOT ")
        return f"NOT {self.sql(inner)}"

    def _ranged(self, node: exp.Expr, negation: str = "") -> str:
        this = self.sql(node, "this")
        match node:
            case exp.In():
                inside = self.sql(node, "query") or f"({self._list(node.expressions)})"
                return f"{this} {negation}IN {inside}"
            case exp.Between():
                how = "SYMMETRIC " if node.args.get("symmetric") else ""
                low, high = self.sql(node, "low"), self.sql(node, "high")
                return f"{this} {negation}BETWEEN {how}{low} AND {high}"
        word = {"like": "LIKE", "ilike": "ILIKE", "similarto": "SIMILAR TO"}[node.key]
        return f"{this} {negation}{word} {self.sql(node, 'expression')}"

    def values_sql(self, expression: exp.Values, values_as_table: bool = True) -> str:
        rows = self._list(expression.expressions)
        modifiers = "".join(self.sql(expression, key) for key in ("order", "limit", "offset"))
        return f"VALUES {rows}{modifiers}"

    def identifier_sql(self, expression: exp.Identifier) -> str:
        name = str(expression.this)
        asked = bool(self.identify) and not isinstance(expression.parent, nodes.Call | nodes.HintCall)
        return f"`{name.replace('`', '``')}`" if asked or expression.args.get("quoted") else name

    def join_sql(self, expression: exp.Join, join_op: str | None = None) -> str:
        words = [str(expression.args.get(key) or "") for key in ("method", "side", "kind")]
        on, using = expression.args.get("on"), expression.args.get("using")
        if not (any(words) or on or using):
            return f", {self.sql(expression, 'this')}"
        text = " " + " ".join(filter(None, [*words, "JOIN", self.sql(expression, "this")]))
        if using:
            return f"{text} USING ({self._list(using)})"
        return f"{text} ON {self.sql(on)}" if on else text

    def exists_sql(self, expression: exp.Exists) -> str:
        return f"EXISTS {self.sql(expression, 'this')}"

    def all_sql(self, expression: exp.All) -> str:
        return f"ALL {self.sql(expression, 'this')}"

    def table_sql(self, expression: exp.Table, sep: str = " AS ") -> str:
        parts = (self.sql(expression, key) for key in ("catalog", "db", "this"))
        text = ".".join(part for part in parts if part)
        text += "".join(self.sql(hint) for hint in expression.args.get("hints") or [])
        if version := expression.args.get("version"):
            text += f" FOR SYSTEM_TIME AS OF {self.sql(version, 'expression')}"
        return self._aliased(text, expression)

    def windowspec_sql(self, expression: exp.WindowSpec) -> str:
        start, end = (
            " ".join(filter(None, (self.sql(expression, key), self.sql(expression, f"{key}_side"))))
            for key in ("start", "end")
        )
        kind = expression.args["kind"]
        return f"{kind} BETWEEN {start} AND {end}" if end else f"{kind} {start}"

    def bracket_sql(self, expression: exp.Bracket) -> str:
        return f"{self.sql(expression, 'this')}[{self._list(expression.expressions)}]"

    def ordered_sql(self, expression: exp.Ordered) -> str:
        nulls_first = expression.args.get("nulls_first")
        nulls = "" if nulls_first is None else f" NULLS {'FIRST' if nulls_first else 'LAST'}"
        return f"{self.sql(expression, 'this')}{' DESC' if expression.args.get('desc') else ''}{nulls}"

    TRANSFORMS: ClassVar[dict[type[exp.Expr], Callable[..., str]]] = {
        **generator.Generator.TRANSFORMS,
        nodes.Call: call_sql,
        nodes.SpecialCall: specialcall_sql,
        nodes.TimeDifference: timedifference_sql,
        nodes.NamedArgument: namedargument_sql,
        nodes.DefaultArgument: defaultargument_sql,
        nodes.TableArgument: tableargument_sql,
        nodes.ModelArgument: modelargument_sql,
        nodes.TableFunction: tablefunction_sql,
        nodes.UnnestTable: unnesttable_sql,
        nodes.LateralQuery: lateralquery_sql,
        nodes.TypedLiteral: typedliteral_sql,
        nodes.IntervalLiteral: intervalliteral_sql,
        nodes.Unknown: unknown_sql,
        nodes.IsKind: iskind_sql,
        nodes.Constructor: constructor_sql,
        nodes.Measured: measured_sql,
        nodes.NullTreatment: nulltreatment_sql,
        nodes.TypeName: typename_sql,
        nodes.TypeField: typefield_sql,
        nodes.HintCall: hintcall_sql,
        nodes.HintOption: hintoption_sql,
        nodes.RowPattern: rowpattern_sql,
        nodes.PatternSubset: patternsubset_sql,
        nodes.PatternSequence: patternsequence_sql,
        nodes.PatternChoice: patternchoice_sql,
        nodes.PatternPermutation: patternpermutation_sql,
        nodes.PatternExclusion: patternexclusion_sql,
        nodes.PatternGroup: patterngroup_sql,
        nodes.PatternRepeat: patternrepeat_sql,
        exp.In: _ranged,
        exp.Between: _ranged,
        exp.Like: _ranged,
        exp.ILike: _ranged,
        exp.SimilarTo: _ranged,
    }
