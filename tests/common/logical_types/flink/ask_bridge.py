"""Ask real Flink which types of streams and types of tables stand for each other; the answers are in bridge.json.

    /path/to/venv/bin/python tests/common/logical_types/flink/ask_bridge.py

The interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the PATH.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyflink.common.typeinfo import LocalTimeTypeInfo, _from_java_type
from pyflink.java_gateway import get_gateway
from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.util.exceptions import JavaException
from representative import NOT_NULL, PLAIN, parts

TIMES = LocalTimeTypeInfo.TimeType
STREAM_TYPES = """
Types.STRING() | Types.BYTE() | Types.BOOLEAN() | Types.SHORT() | Types.INT() | Types.LONG() | Types.FLOAT()
Types.DOUBLE() | Types.CHAR()
Types.BIG_INT() | Types.BIG_DEC() | Types.INSTANT() | Types.SQL_DATE() | Types.SQL_TIME()
Types.SQL_TIMESTAMP() | Types.PICKLED_BYTE_ARRAY()
Types.ROW([Types.INT(), Types.STRING()])
Types.ROW_NAMED(['a', 'b'], [Types.LONG(), Types.ROW([Types.DOUBLE()])])
Types.TUPLE([Types.INT(), Types.STRING()])
Types.TUPLE([Types.TUPLE([Types.LONG()]), Types.ROW([Types.INT()])])
Types.PRIMITIVE_ARRAY(Types.INT()) | Types.PRIMITIVE_ARRAY(Types.BYTE())
Types.PRIMITIVE_ARRAY(Types.BOOLEAN()) | Types.PRIMITIVE_ARRAY(Types.SHORT())
Types.PRIMITIVE_ARRAY(Types.LONG()) | Types.PRIMITIVE_ARRAY(Types.FLOAT())
Types.PRIMITIVE_ARRAY(Types.DOUBLE()) | Types.PRIMITIVE_ARRAY(Types.CHAR())
Types.BASIC_ARRAY(Types.INT()) | Types.BASIC_ARRAY(Types.STRING())
Types.OBJECT_ARRAY(Types.ROW([Types.INT()])) | Types.OBJECT_ARRAY(Types.BIG_DEC())
Types.LIST(Types.INT()) | Types.LIST(Types.STRING()) | Types.LIST(Types.BYTE())
Types.LIST(Types.LIST(Types.DOUBLE()))
Types.MAP(Types.STRING(), Types.INT())
Types.MAP(Types.INT(), Types.MAP(Types.STRING(), Types.ROW([Types.INT()])))
Types.ROW([Types.PICKLED_BYTE_ARRAY(), Types.BIG_INT()])
LocalTimeTypeInfo(TIMES.LOCAL_DATE) | LocalTimeTypeInfo(TIMES.LOCAL_TIME)
LocalTimeTypeInfo(TIMES.LOCAL_DATE_TIME)
"""
HERE = Path(__file__).parent
REFUSED = (Py4JJavaError, JavaException)


def main() -> None:
    """Write the answers."""
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    jvm = get_gateway().jvm
    logical = jvm.org.apache.flink.table.types.logical
    utils = jvm.org.apache.flink.table.types.utils
    factory = env._j_tenv.getCatalogManager().getDataTypeFactory()
    loader = jvm.Thread.currentThread().getContextClassLoader()

    def to_table(text: str) -> str:
        stream_type = eval(text)
        data_type = utils.TypeInfoDataTypeConverter.toDataType(factory, stream_type.get_java_type_info())
        return str(data_type.getLogicalType().asSummaryString())

    def to_stream(text: str) -> Any:
        data_type = utils.TypeConversions.fromLogicalToDataType(
            logical.utils.LogicalTypeParser.parse(text, loader)
        )
        try:
            info = utils.TypeConversions.fromDataTypeToLegacyInfo(data_type)
        except REFUSED:
            return None
        try:
            return repr(_from_java_type(info))
        except Exception as error:
            return [str(info.toString()), type(error).__name__]

    answers = {
        "to_table": {text: to_table(text) for text in parts(STREAM_TYPES)},
        "to_stream": {
            text: to_stream(text) for text in [*parts(PLAIN), *(f"{t} NOT NULL" for t in parts(NOT_NULL))]
        },
    }
    lines = ",\n".join(f'"{key}": {json.dumps(value, indent=0)}' for key, value in answers.items())
    (HERE / "bridge.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
