// Writes the record anew: `npm run record`. What has changed in it is to be read before it is committed.

import { readdirSync, rmSync, writeFileSync } from "node:fs";

import { RECORDED, RECORDS } from "./records.js";

for (const file of readdirSync(RECORDED)) if (!(file.replace(".txt", "") in RECORDS)) rmSync(new URL(file, RECORDED));
for (const [name, list] of Object.entries(RECORDS)) writeFileSync(new URL(`${name}.txt`, RECORDED), `${list().join("\n")}\n`);
