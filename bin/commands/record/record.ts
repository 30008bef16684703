/** `fleetbed record`: a transparent proxy that writes what passes through it to a session file. */
import { writeSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { Command } from 'commander';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { countText } from '../../../fixtures/base/count-text.ts';
import { groupRows, type UngroupedRows, type ValuesOf } from '../../../fixtures/base/option-row.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import { addOptionRows } from '../../options/option-rows.ts';
import * as values from '../../options/option-values.ts';
import { sharedHelp } from '../../options/shared-options.ts';
import { describeError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { openForLines, readNamedFile } from '../../output/files.ts';
import { createOutput } from '../../output/output.ts';
import { stopSignal, untilAborted } from '../../output/stop-signal.ts';
import { recordingProxy } from './proxy.ts';
import { SessionLines } from './session-lines.ts';

/** Limit on the session file; what passes afterwards is forwarded and not written. */
const FILE_MAX_BYTES = 134_217_728;

const rows = groupRows('Options', {
  host: {
    flag: '--host <host>',
    help: 'address to listen on',
    cli: { kind: 'text' },
    default: { value: '127.0.0.1' },
  },
  port: {
    flag: '--port <port>',
    help: 'port to listen on; 0 for any free port',
    cli: { kind: 'port' },
    default: { value: 0 },
  },
  ca: {
    flag: '--ca <file>',
    help: sharedHelp.ca,
    cli: { kind: 'text' },
  },
} as const satisfies UngroupedRows);

type RecordOptions = ValuesOf<typeof rows> & { readonly upstream: string; readonly out: string };

const codes = exitCodeHelp({
  pass: 'recorded, ended by Ctrl-C',
  setUp: 'the file cannot be written, or the port is in use',
  inconclusive: 'nothing passed through',
});

const help = `
Point the device at the printed URL. Requests, responses and WebSockets pass unchanged, except that links
to the upstream server name this proxy, so that downloads pass through it. Other links are not changed.

The session file is a journal, one line of JSON for each exchange and frame: fleetbed conform client
--from, fleetbed calendar and fleetbed replay read it. It contains no secret: tokens are called token-1,
token-2, signatures and passwords are masked, and frames and files are not kept.
${codes}`;

/** Adds the options and the action of `fleetbed record`. */
export function configure(command: Command): void {
  addOptionRows(
    command
      .requiredOption(
        '--upstream <url>',
        'server to forward to, such as https://staging.example.com',
        values.baseUrl,
      )
      .requiredOption('--out <file>', 'session file to write', values.nonEmptyText),
    rows,
  )
    .addHelpText('after', help)
    .action(async (options: RecordOptions) => {
      process.exitCode = await recordSession(options);
    });
  addExamples(
    command,
    'fleetbed record --upstream http://127.0.0.1:8080 --out session.ndjson',
    'fleetbed record --upstream https://staging.example.com --out session.ndjson --host 0.0.0.0 --port 8081',
  );
}

async function recordSession({ upstream, out, host, port, ca }: RecordOptions): Promise<ExitCode> {
  const output = createOutput(false);
  const caPem = ca === undefined ? undefined : await readNamedFile('--ca', ca);
  const file = await openForLines('--out', out);
  const stop = stopSignal();
  const lines = new SessionLines();
  let [exchanges, bytes, failures] = [0, 0, 0];
  const write = (line: string): void => {
    const isFull = bytes >= FILE_MAX_BYTES;
    bytes += Buffer.byteLength(line);
    if (bytes < FILE_MAX_BYTES) writeSync(file, line);
    else if (!isFull)
      output.warn(`${out} is full; further exchanges are forwarded but not written.`);
  };
  const proxy = recordingProxy({
    upstream,
    caPem,
    clock: systemClock,
    onExchange: (exchange) => {
      exchanges += 1;
      write(lines.exchange(exchange));
    },
    onFrame: (frame) => write(lines.frame(frame)),
    onNoResponse: (error) => {
      failures += 1;
      if (failures === 1) output.warn(describeError(error, upstream).sentence);
    },
  });
  await new Promise<void>((resolve, reject) => {
    proxy.once('error', reject);
    proxy.listen(port, host, resolve);
  });
  const { port: bound } = proxy.address() as AddressInfo;
  const hostText = host.includes(':') ? `[${host}]` : host;
  output.line(`Recording http://${hostText}:${bound} to ${out}; Ctrl-C ends it.`);
  await untilAborted(stop);
  proxy.close();
  proxy.closeAllConnections();
  output.line(`Recorded ${countText(exchanges, 'request')} in ${out}.`);
  return exchanges === 0 ? exitCodes.inconclusive : exitCodes.pass;
}
