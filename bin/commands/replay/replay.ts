/** `fleetbed replay`: plays a recorded session against a server, and compares the responses. */
import type { Command } from 'commander';
import { Agent } from 'undici';
import { openRecording } from '../../../conformance/recordings/open-recording.ts';
import { RecordingError } from '../../../conformance/recordings/recording.ts';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { countText } from '../../../fixtures/base/count-text.ts';
import { groupRows, type UngroupedRows, type ValuesOf } from '../../../fixtures/base/option-row.ts';
import { NotAFile } from '../../../fixtures/base/plain-file.ts';
import { secretVariables } from '../../../fixtures/base/secret-variables.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import { addOptionRows, settingsOfOptions } from '../../options/option-rows.ts';
import { sharedHelp } from '../../options/shared-options.ts';
import { addUrlOption } from '../../options/url-option.ts';
import { CommandError, setupError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { fileError, readNamedFile } from '../../output/files.ts';
import { createOutput } from '../../output/output.ts';
import { stopSignal } from '../../output/stop-signal.ts';
import { SessionReplay } from './session-replay.ts';

const rows = groupRows('Options', {
  ca: {
    flag: '--ca <file>',
    help: sharedHelp.ca,
    cli: { kind: 'text' },
  },
  headerPrefix: {
    flag: '--header-prefix <prefix>',
    help: sharedHelp.headerPrefix,
    cli: { kind: 'header-prefix' },
    default: { value: 'X-SVC' },
  },
  tenantToken: {
    flag: '--tenant-token <token>',
    help: 'tenant token in the authentication requests; the recorded one is masked',
    cli: { kind: 'secret', variable: secretVariables.tenantToken },
  },
  pauseMaxMs: {
    flag: '--pause-max <duration>',
    help: 'longest pause between two requests',
    cli: { kind: 'duration' },
    default: { value: 0, text: '0s' },
  },
  acceptanceMs: {
    flag: '--acceptance-time <duration>',
    help: 'time for a user to accept a device that was accepted in the recording',
    cli: { kind: 'duration' },
    default: { value: 30_000, text: '30s' },
  },
  json: {
    flag: '--json',
    help: 'print each request as a line of JSON',
    cli: { kind: 'switch' },
  },
} as const satisfies UngroupedRows);

type ReplayOptions = ValuesOf<typeof rows> & { readonly url: string };

const codes = exitCodeHelp({
  pass: 'no response differs',
  failed: 'a response differs',
  setUp: 'the file cannot be read, or the server cannot be reached',
  inconclusive: 'the file has no request of a device',
  interrupted: 'interrupted',
});

const help = `
The file is a session of fleetbed record, a journal, or a HAR file. Each request is sent again with
the server's tokens, IDs and links, with times moved to the present, and signed by a test key that
replaces the recorded key. Of a WebSocket, only the handshake is sent.

A response differs if its status or a member of its JSON differs, except for IDs, times, links and the
texts of errors. With --json each request is a line {location, method, path, recorded, status, differences}.
${codes}`;

/** Adds the options and the action of `fleetbed replay`. */
export function configure(command: Command): void {
  addUrlOption(command.argument('<file>', 'session file'), {
    description: 'base URL of the server',
    defaultUrl: 'http://127.0.0.1:8080',
  });
  addOptionRows(command, rows)
    .addHelpText('after', help)
    .action(async (file: string, options: { readonly url: string }) => {
      const { url } = options;
      process.exitCode = await replay(file, { ...settingsOfOptions(rows, options), url });
    });
  addExamples(
    command,
    'fleetbed replay session.ndjson --url http://127.0.0.1:8080',
    'fleetbed replay session.ndjson --url https://staging.example.com --pause-max 5s',
  );
}

async function replay(file: string, options: ReplayOptions): Promise<ExitCode> {
  const { ca, json = false, ...settings } = options;
  const { url } = settings;
  const output = createOutput(json);
  const caPem = ca === undefined ? undefined : await readNamedFile('--ca', ca);
  const dispatcher = new Agent({ connect: { ...(caPem !== undefined && { ca: caPem }) } });
  const stop = stopSignal();
  const session = new SessionReplay({
    ...settings,
    tenantToken: options.tenantToken,
    dispatcher,
    caPem,
    clock: systemClock,
    stop,
    onWaiting: () =>
      output.progress('Waiting until the device is accepted: npx fleetbed accept --all'),
  });
  let [played, differing] = [0, 0];
  try {
    const { exchanges } = await openRecording(file);
    for await (const exchange of exchanges) {
      if (stop.aborted) return exitCodes.interrupted;
      if (!session.plays(exchange)) continue;
      const request = await session.play(exchange);
      played += 1;
      if (request.differences.length > 0) differing += 1;
      output.data(request);
      const { location, method, path, differences } = request;
      if (!json)
        for (const each of differences) output.line(`${location}: ${method} ${path}: ${each}`);
    }
  } catch (error) {
    throw commandErrorOf(error, file, url);
  } finally {
    await dispatcher.destroy();
  }
  const summary = `${countText(played, 'request')} played, ${countText(differing, 'response')} differ.`;
  output.line(played === 0 ? `${file} has no request of a device.` : summary);
  if (played === 0) return exitCodes.inconclusive;
  return differing > 0 ? exitCodes.failed : exitCodes.pass;
}

/** Returns the error of the file as one sentence, or that of a server that cannot be reached. */
function commandErrorOf(error: unknown, file: string, url: string): unknown {
  if (error instanceof RecordingError) return new CommandError(error.message, exitCodes.setUp);
  if (!(error instanceof Error)) return error;
  return namesAFile(error) ? fileError(`cannot read ${file}`, error) : setupError(error, url);
}

/** Errors of connections have no path. */
function namesAFile(error: Error): boolean {
  return error instanceof NotAFile || ('path' in error && 'syscall' in error);
}
