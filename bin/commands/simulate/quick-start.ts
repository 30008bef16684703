/**
 * Runs the quick start of `simulator/guide.md` as a reader would, and returns its output for the
 * guide.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** The ports for the server of the quick start, in place of 8080 and 8081. */
interface Ports {
  readonly port: number;
  readonly controlPort: number;
}

/** Runs the quick start in the folder of the built package. */
export async function runQuickStart(guide: string, { port, controlPort }: Ports) {
  const lines = quickStartIn(guide)
    .replaceAll('npx fleetbed', `"${process.execPath}" dist/bin/fleetbed.js`)
    .replace('serve ', `serve --port ${port} --control-port ${controlPort} `)
    .replace(':8080', `:${port}`);
  const child = spawn('bash', ['-c', `trap 'kill $(jobs -p)' EXIT\n${lines}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { stdout, stderr, code: Number(code) };
}

/** Returns the part of the report that the guide shows: everything before the latencies. */
export function shownReport(stdout: string): string {
  const from = stdout.search(/^[\d,]+ devices: /m);
  return stdout
    .slice(from, stdout.indexOf('\n\nLatency'))
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:8080');
}

function quickStartIn(guide: string): string {
  return /<!-- quick start -->\n\n```sh\n(.*?)```/s.exec(guide)?.[1] ?? '';
}
