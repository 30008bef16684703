/** Calls the control listener of a running server. */
import { type Command, Option } from 'commander';
import { isObject, parsedJson } from '../../fixtures/base/json.ts';
import { printable } from '../../fixtures/base/printable.ts';
import { secretVariables } from '../../fixtures/base/secret-variables.ts';
import type { ControlPath } from '../../fixtures/control/operations.ts';
import * as values from '../options/option-values.ts';
import { SecretOption } from '../options/secret-option.ts';
import { addUrlOption } from '../options/url-option.ts';
import { CommandError } from '../output/command-error.ts';
import { type ExitCode, exitCodes } from '../output/exit-codes.ts';
import { fillControl } from './found-server.ts';

const SENTENCE_MAX_CHARACTERS = 2000;
/** Limit on the size of a response, far above that of a whole journal. */
const RESPONSE_MAX_BYTES = 256 * 1_048_576;

/** The address of the control listener, its token, and the tenant. */
export interface ControlAccess {
  readonly controlUrl: string;
  readonly controlToken: string;
  readonly tenant?: string;
}

/** A response of the control listener. */
export interface ControlResponse {
  readonly status: number;
  readonly body: Response;
}

type FilledPath<Path extends string> = Path extends `${infer Before}{${string}}${infer Rest}`
  ? `${Before}${string}${FilledPath<Rest>}`
  : Path;

/** A path of the control API with its parameters filled in. */
type ControlTarget = FilledPath<ControlPath>;

/** Returns the option `--control-url` of commands that call a running server. */
export function controlUrlOption(): Option {
  return new Option(
    '--control-url <url>',
    'URL of the control listener (default: that of the server running on this machine)',
  )
    .env('FLEETBED_CONTROL_URL')
    .argParser(values.baseUrl);
}

/**
 * Adds the options. Missing values come from the run file of the server on this machine.
 * @param isNeeded returns false for options with which the command needs no server
 */
export function addControlOptions(
  command: Command,
  isNeeded: (options: object) => boolean = () => true,
): Command {
  addUrlOption(command.optionsGroup('Server:').addOption(controlUrlOption()), {
    description: 'base URL of the API, in place of --control-url, of a server on this machine',
  });
  return command
    .addOption(
      new SecretOption(
        '--control-token <token>',
        'control token (default: from the run file of the server at that URL)',
        secretVariables.controlToken,
      ),
    )
    .option(
      '--tenant <name>',
      'ID or name of a tenant (default: the first one)',
      values.nonEmptyText,
    )
    .optionsGroup('Options:')
    .hook('preAction', () => {
      if (isNeeded(command.opts())) fillControl(command);
    });
}

/** A request to the control listener. */
interface ControlFetchOptions extends RequestInit {
  /** Statuses that are not treated as errors. */
  readonly expected?: readonly number[];
  /** True for a stream without end; its reader limits the size of each event. */
  readonly isEndless?: boolean;
}

/**
 * Calls the control listener, and fails when the response exceeds a size limit.
 * @throws CommandError
 */
export async function callControl(
  { controlUrl, controlToken }: Pick<ControlAccess, 'controlUrl' | 'controlToken'>,
  path: string,
  { expected = [200], isEndless = false, ...init }: ControlFetchOptions = {},
): Promise<ControlResponse> {
  const headers = { ...init.headers, Authorization: `Bearer ${controlToken}` };
  const url = controlUrl.replace(/\/$/, '') + path;
  const response = await fetch(url, { ...init, headers }).catch((cause: unknown) => {
    const sentence = `${controlUrl} does not answer; check --control-url and that the server is running.`;
    throw new CommandError(sentence, exitCodes.setUp, cause);
  });
  const body = isEndless ? response : limitBody(controlUrl, response);
  if (expected.includes(body.status)) return { status: body.status, body };
  throw new CommandError(await refusalOf(controlUrl, body), exitCodeOf(body.status));
}

/**
 * Calls the control listener for the tenant of the options, optionally with a JSON body. A refusal
 * because of the server's state (404, 409, 422) has exit code 1.
 * @throws CommandError
 */
export async function callControlForTenant(
  options: ControlAccess,
  path: ControlTarget,
  { method, json }: { readonly method: string; readonly json?: object },
): Promise<ControlResponse> {
  const query =
    options.tenant === undefined ? '' : `?${new URLSearchParams({ tenant: options.tenant })}`;
  const expected = [200, 204, 404, 409, 422];
  const { status, body } = await callControl(options, path + query, {
    method,
    expected,
    ...(json && {
      body: JSON.stringify(json),
      headers: { 'Content-Type': 'application/json' },
    }),
  });
  if (status < 400) return { status, body };
  throw new CommandError(await refusalOf(options.controlUrl, body), exitCodes.failed);
}

/** Limits the response body to `RESPONSE_MAX_BYTES`, counted after decompression. */
function limitBody(url: string, response: Response): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const byteCounter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes <= RESPONSE_MAX_BYTES) return controller.enqueue(chunk);
      const sentence = `${url} answers with more than ${RESPONSE_MAX_BYTES} bytes; request less.`;
      controller.error(new CommandError(sentence, exitCodes.setUp));
    },
  });
  return new Response(response.body.pipeThrough(byteCounter), response);
}

function exitCodeOf(status: number): ExitCode {
  return status === 400 ? exitCodes.usage : exitCodes.setUp;
}

/** Returns one sentence about a refusal of the control listener. */
export async function refusalOf(url: string, response: Response): Promise<string> {
  if (response.status === 401)
    return `${url} refuses the control token; check --control-token, or FLEETBED_CONTROL_TOKEN.`;
  const text = await response.text();
  const sentence = errorIn(text) ?? 'this may not be the control listener; check --control-url';
  return printable(`${url}: ${response.status}: ${sentence}`, SENTENCE_MAX_CHARACTERS);
}

function errorIn(text: string): string | undefined {
  const response = parsedJson(text);
  return isObject(response) && typeof response.error === 'string' ? response.error : undefined;
}
