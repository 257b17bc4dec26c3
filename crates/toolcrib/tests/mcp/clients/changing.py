"""An upstream server over stdio whose tools are what a file says: changing.py TOOLS.json.

It reads the file whenever it is asked, so that a test changes what it says by writing the file.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    if "id" not in message:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        info = {"name": "changing", "version": "1"}
        answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "tools/list":
        with open(sys.argv[1]) as file:
            answer["result"] = {"tools": json.load(file)}
    elif method == "tools/call":
        answer["result"] = {"content": [{"type": "text", "text": "ran " + params["name"]}]}
    else:
        answer["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(answer), flush=True)
