/**
 * Opens a WebSocket for each token of a file, holds them and answers pings. The arguments are the
 * URL and the file with one token per line; the output is the number of open WebSockets. The
 * process exits when one of them fails.
 */
import { readFileSync } from 'node:fs';
import { WebSocket } from 'ws';
import { exitCodes } from '../../../output/exit-codes.ts';

/** Number of handshakes at the same time. */
const CONCURRENT = 32;

const [url = '', file = ''] = process.argv.slice(2);
const tokens = readFileSync(file, 'utf8').split('\n');
let next = 0;
await Promise.all(Array.from({ length: CONCURRENT }, worker));
process.stdout.write(`${tokens.length}\n`);

async function worker(): Promise<void> {
  for (let token = tokens[next++]; token !== undefined; token = tokens[next++]) await open(token);
}

function open(token: string): Promise<void> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` };
    new WebSocket(url, { headers, perMessageDeflate: false })
      .once('open', resolve)
      .once('error', ({ message }) => fail(message))
      .once('close', (code) => fail(`closed with ${code}`));
  });
}

function fail(why: string): void {
  process.stderr.write(`socket-holder: ${why}\n`);
  process.exit(exitCodes.internal);
}
