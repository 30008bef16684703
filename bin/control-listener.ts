/** Asking the control listener of a running server: where it is, its token, and what it answers. */
import { type Command, Option } from 'commander';
import { printable } from '../fixtures/printable.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { CommandFault } from './fault.ts';
import * as values from './option-values.ts';
import { SecretOption, secretVariables } from './secret-option.ts';

const SENTENCE_MAX_CHARACTERS = 2000;
/** Of an answer; a whole journal is far smaller. */
const ANSWER_MAX_BYTES = 256 * 1_048_576;

/** Where the control listener is, and which world is meant. */
export interface ControlOptions {
  readonly control: string;
  readonly token: string;
  readonly world?: string;
}

/** An answer of the control listener. */
export interface ControlAnswer {
  readonly status: number;
  readonly body: Response;
}

/** Adds where the control listener is. */
export function addControlOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--control <url>', 'the control listener of the server')
        .env('FLEETBED_CONTROL_URL')
        .argParser(values.baseUrl)
        .default('http://127.0.0.1:8081'),
    )
    .addOption(
      new SecretOption('--token <text>', 'the control token, which fleetbed serve --json prints', {
        variable: secretVariables.controlToken,
      }).needed(),
    )
    .option('--world <name>', 'id or name of a world (default: the first one)', values.filled);
}

/** How the control listener is asked. */
interface AskOptions extends RequestInit {
  /** Statuses that are no fault. */
  readonly expected?: readonly number[];
  /** A stream whose reader bounds each event. */
  readonly isEndless?: boolean;
}

/**
 * Asks the control listener. What it answers is read up to a bound, and fails beyond.
 * @throws CommandFault
 */
export async function ask(
  { control, token }: Pick<ControlOptions, 'control' | 'token'>,
  path: string,
  { expected = [200], isEndless = false, ...init }: AskOptions = {},
): Promise<ControlAnswer> {
  const headers = { ...init.headers, Authorization: `Bearer ${token}` };
  const url = control.replace(/\/$/, '') + path;
  const answer = await fetch(url, { ...init, headers }).catch((cause: unknown) => {
    const sentence = `${control} does not answer; check --control and that the server runs.`;
    throw new CommandFault(sentence, exitCodes.setUp, cause);
  });
  const body = isEndless ? answer : bounded(control, answer);
  if (expected.includes(body.status)) return { status: body.status, body };
  throw new CommandFault(await refusalOf(control, body), exitCodeOf(body.status));
}

/** Whatever is sent compressed counts as it is when it is read. */
function bounded(control: string, answer: Response): Response {
  if (answer.body === null) return answer;
  let bytes = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes <= ANSWER_MAX_BYTES) return controller.enqueue(chunk);
      const sentence = `${control} answers with more than ${ANSWER_MAX_BYTES} bytes; ask for less.`;
      controller.error(new CommandFault(sentence, exitCodes.setUp));
    },
  });
  return new Response(answer.body.pipeThrough(counted), answer);
}

function exitCodeOf(status: number): ExitCode {
  return status === 400 ? exitCodes.usage : exitCodes.setUp;
}

/** One sentence of what the control listener refused. */
export async function refusalOf(control: string, answer: Response): Promise<string> {
  if (answer.status === 401)
    return `${control} does not take the control token; check --token, or FLEETBED_CONTROL_TOKEN.`;
  const text = await answer.text();
  const told = errorIn(text) ?? 'is this the control listener? check --control';
  return printable(`${control}: ${answer.status}: ${told}`, SENTENCE_MAX_CHARACTERS);
}

function errorIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === 'string' ? error : undefined;
  } catch (fault) {
    if (fault instanceof SyntaxError) return undefined;
    throw fault;
  }
}
