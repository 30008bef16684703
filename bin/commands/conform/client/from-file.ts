/** `fleetbed conform client --from FILE`: judges the clients in a recording. */
import { verdictsOfRecording } from '../../../../conformance/client-judge/recorded-clients.ts';
import { openRecording } from '../../../../conformance/recordings/open-recording.ts';
import { RecordingError } from '../../../../conformance/recordings/recording.ts';
import type { ClientExchange } from '../../../../fixtures/control/client-event.ts';
import { maskText } from '../../../../server/http/masking.ts';
import { judgedDuties } from '../../../client-test/client-reader.ts';
import { type ClientDuties, clientLines, hasBrokenMust } from '../../../client-test/duties-text.ts';
import { CommandError } from '../../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../../output/exit-codes.ts';
import { fileError, isFileProblem } from '../../../output/files.ts';
import { createOutput } from '../../../output/output.ts';

/** Maximum number of requests that are shown as evidence. */
const REQUESTS_MAX = 10_000;

/** Prints the duties of each client in the file. @throws CommandError */
export async function judgeRecordedClients(
  file: string,
  { json = false }: { readonly json?: boolean },
): Promise<ExitCode> {
  const output = createOutput(json);
  const clients = await clientsIn(file).catch((error: unknown) => {
    throw errorOfReading(file, error);
  });
  output.data({ file, clients });
  const clientTexts = clients.map((client) => clientLines(client).join('\n'));
  const none = `${file} has no requests of devices.`;
  if (!json) output.line(clientTexts.length === 0 ? none : clientTexts.join('\n\n'));
  if (clients.some(hasBrokenMust)) return exitCodes.failed;
  return clients.length === 0 ? exitCodes.inconclusive : exitCodes.pass;
}

async function clientsIn(file: string): Promise<readonly ClientDuties[]> {
  const { exchanges } = await openRecording(file);
  const requests = new Map<number, string>();
  let endedMs = 0;
  const verdicts = await verdictsOfRecording(exchanges, (exchange, isBroken) => {
    endedMs = Math.max(endedMs, exchange.endedMs);
    if (isBroken && requests.size < REQUESTS_MAX)
      requests.set(exchange.journalEntry, maskText(requestLine(exchange)));
  });
  return verdicts.map((verdict) => ({
    client: verdict.client,
    exchanges: verdict.exchanges,
    dropped: verdict.dropped,
    duties: judgedDuties(verdict).map(({ openSinceMs, violations, ...duty }) => ({
      ...duty,
      violations: violations.map(({ atMs, ...violation }) => {
        const request = requests.get(violation.journalEntry);
        const secondsAgo = Math.round((endedMs - atMs) / 1000);
        return { ...violation, secondsAgo, ...(request !== undefined && { request }) };
      }),
      ...(openSinceMs !== undefined && {
        openSeconds: Math.round((endedMs - openSinceMs) / 1000),
      }),
    })),
  }));
}

function requestLine({ method, url, status }: ClientExchange): string {
  return `${method} ${url} ${status === 0 ? 'without a response' : `-> ${status}`}`;
}

function errorOfReading(file: string, error: unknown): unknown {
  if (error instanceof RecordingError)
    return new CommandError(error.message, exitCodes.setUp, error);
  return isFileProblem(error) ? fileError(`--from cannot read ${file}`, error) : error;
}
