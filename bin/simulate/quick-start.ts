/** Runs the quick start of `simulator/guide.md` as a reader would, and keeps what the guide shows of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/**
 * Runs it in the folder of the package, which is built.
 * @param port of the server; that of its control listener is the next one
 */
export async function playQuickStart(guide: string, port: number) {
  const lines = quickStartIn(guide)
    .replaceAll('npx fleetbed', `"${process.execPath}" dist/bin/fleetbed.js`)
    .replace('serve ', `serve --port ${port} --control-port ${port + 1} `)
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

/** What the guide shows of the report: its beginning, up to the latencies. */
export function shownReport(stdout: string): string {
  const from = stdout.search(/^[\d,]+ devices: /m);
  return stdout
    .slice(from, stdout.indexOf('\n\nLatency'))
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:8080');
}

function quickStartIn(guide: string): string {
  return /<!-- quick start -->\n\n```sh\n(.*?)```/s.exec(guide)?.[1] ?? '';
}
