"""A round of the PyPI client flink-sql-gateway-api, which is made of Flink's OpenAPI document; prints what it sees."""

import sys
import time

from flink_gateway_api import Client
from flink_gateway_api.api.default import (
    close_operation,
    close_session,
    execute_statement,
    fetch_results,
    get_info,
    get_operation_status,
    get_session_config,
    open_session,
)
from flink_gateway_api.models import ExecuteStatementRequestBody, OpenSessionRequestBody, RowFormat

client = Client(base_url=sys.argv[1], raise_on_unexpected_status=True)
print(get_info.sync(client=client).version)
options = {"execution.runtime-mode": "batch"}
body = OpenSessionRequestBody.from_dict({"sessionName": "round", "properties": options})
session = open_session.sync(client=client, body=body).session_handle
properties = get_session_config.sync(session, client=client).properties.to_dict()
print({key: properties[key] for key in options})
statement = ExecuteStatementRequestBody.from_dict({"statement": "SELECT 1 AS a, 'x' AS b"})
operation = execute_statement.sync(session, client=client, body=statement).operation_handle
token, rows = 0, []
while True:
    page = fetch_results.sync(session, operation, token, client=client, row_format=RowFormat.JSON).to_dict()
    if page["resultType"] == "EOS":
        break
    if page["resultType"] == "PAYLOAD":
        rows += page["results"]["data"]
        token += 1
    time.sleep(0.1)
print(rows)
print(get_operation_status.sync(session, operation, client=client).status)
print(close_operation.sync(session, operation, client=client).status)
print(close_session.sync(session, client=client).status)
