/**
 * Finds the server of a command: the server that options or environment name, otherwise the server
 * that runs on this machine, by its run file. Given values take precedence; the run file supplies
 * missing ones, also the control listener of a given API and the API of a given control listener.
 */
import type { Command } from 'commander';
import { secretVariables } from '../../fixtures/base/secret-variables.ts';
import { CommandError } from '../output/command-error.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { type RunFile, runningServers } from './run-file.ts';

/** Source of values from a run file, in addition to commander's own `cli`, `env` and `default`. */
const FOUND = 'run-file';

/** The addresses at which `fleetbed serve` listens by default. */
const defaultUrls = { url: 'http://127.0.0.1:8080', controlUrl: 'http://127.0.0.1:8081' } as const;

/**
 * Fills in `controlUrl` and `controlToken`, if only `url` is given by the server with that API.
 * @throws CommandError when there is no server, or several
 */
export function fillControl(command: Command): void {
  const options = command.opts<Partial<RunFile> & { readonly url?: string }>();
  const { controlToken: token } = options;
  const url = options.controlUrl ?? controlOfApi(command, options.url);
  if (url !== undefined && token !== undefined) {
    if (options.controlUrl === undefined)
      command.setOptionValueWithSource('controlUrl', url, FOUND);
    return;
  }
  const optionsText = `--control-url and --control-token (env: ${secretVariables.controlToken})`;
  if (url === undefined && token !== undefined) {
    // A token belongs to one server: select that server, or the default address if none has it.
    const owner = runningServers().find(({ controlToken }) => controlToken === token);
    command.setOptionValueWithSource(
      'controlUrl',
      owner?.controlUrl ?? defaultUrls.controlUrl,
      FOUND,
    );
    return;
  }
  const runFile =
    url === undefined ? onlyServer('--control-url', optionsText) : serverAt('controlUrl', url);
  if (!runFile) {
    throw new CommandError(
      `no server started by this user on this machine has its control listener at ${url}; ` +
        `give --control-token (env: ${secretVariables.controlToken}).`,
      exitCodes.usage,
    );
  }
  command.setOptionValueWithSource('controlUrl', runFile.controlUrl, FOUND);
  command.setOptionValueWithSource('controlToken', runFile.controlToken, FOUND);
}

/**
 * Returns the control listener of the server with this API; undefined when no API is given.
 * @throws CommandError when this machine does not know it
 */
function controlOfApi(command: Command, url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  const runFile = serverAt('baseUrl', url);
  if (runFile) return runFile.controlUrl;
  const urlText = command.getOptionValueSource('url') === 'env' ? `FLEETBED_URL (${url})` : url;
  throw new CommandError(
    `no server started by this user on this machine has its API at ${urlText}, so its control ` +
      'listener is unknown; give --control-url and --control-token.',
    exitCodes.usage,
  );
}

/**
 * Fills in `url`, and the user of the run file as `foundAdmin` when neither password nor token is
 * given.
 * @param ways the options that name a user, as a part of a sentence
 * @throws CommandError when there is no server, or several
 */
export function fillServerOptions(command: Command, ways: string): void {
  const options = command.opts<{
    url?: string;
    email: string;
    password?: string;
    token?: string;
    controlUrl?: string;
  }>();
  const { email } = options;
  const url = options.url ?? apiOfControl(options.controlUrl);
  if (url !== options.url) command.setOptionValueWithSource('url', url, FOUND);
  const hasUser = options.password !== undefined || options.token !== undefined;
  if (url !== undefined && hasUser) return;
  const servers = url === undefined ? runningServers() : [];
  if (hasUser && servers.length === 0) {
    command.setOptionValueWithSource('url', defaultUrls.url, 'default');
    return;
  }
  const runFile =
    url === undefined ? onlyServer('--url', `--url and ${ways}`) : serverAt('baseUrl', url);
  const isOther =
    command.getOptionValueSource('email') !== 'default' && runFile?.adminEmail !== email;
  if (!runFile || (isOther && !hasUser))
    throw new CommandError(`name a user with ${ways}.`, exitCodes.usage);
  command.setOptionValueWithSource('url', runFile.baseUrl, FOUND);
  if (runFile.caPem !== undefined) command.setOptionValueWithSource('caPem', runFile.caPem, FOUND);
  if (!hasUser) command.setOptionValueWithSource('foundAdmin', runFile, FOUND);
}

/**
 * Returns the API of the server with this control listener; undefined when none is given.
 * @throws CommandError when this machine does not know it
 */
function apiOfControl(controlUrl: string | undefined): string | undefined {
  if (controlUrl === undefined) return undefined;
  const runFile = serverAt('controlUrl', controlUrl);
  if (runFile) return runFile.baseUrl;
  throw new CommandError(
    `no server started by this user on this machine has its control listener at ${controlUrl}, ` +
      'so the URL of its API is unknown; give --url.',
    exitCodes.usage,
  );
}

/** The addresses and the user of a target, as options name them. */
interface TargetOptions {
  readonly url: string;
  readonly email: string;
  readonly password?: string | undefined;
  readonly token?: string | undefined;
  readonly controlUrl?: string | undefined;
  readonly controlToken?: string | undefined;
}

/**
 * Completes the options of a command that tests or cleans up a server: the run file of the server at
 * the URL supplies its control listener, its user and its certificate; that of the server with the
 * control listener supplies the URL.
 * @param isUrlGiven false when `url` is only the default
 * @throws CommandError when only a control listener is given, and its API is unknown
 */
export function foundTarget<Options extends TargetOptions>(
  options: Options,
  isUrlGiven: boolean,
): Options & { readonly caPem?: string | undefined } {
  const { controlUrl } = options;
  const url = (isUrlGiven ? undefined : apiOfControl(controlUrl)) ?? options.url;
  const runFile = serverAt('baseUrl', url);
  if (!runFile) return { ...options, url };
  const isSameControl =
    controlUrl === undefined || serverAt('controlUrl', controlUrl)?.pid === runFile.pid;
  const hasUser = options.password !== undefined || options.token !== undefined;
  const { adminEmail, adminPassword, adminToken, caPem } = runFile;
  const user = adminPassword === '' ? { token: adminToken } : { password: adminPassword };
  return {
    ...options,
    url,
    caPem,
    ...(!hasUser && options.email === adminEmail && user),
    ...(controlUrl === undefined && {
      controlUrl: runFile.controlUrl,
      controlToken: runFile.controlToken,
    }),
    ...(isSameControl &&
      options.controlToken === undefined && { controlToken: runFile.controlToken }),
  };
}

/**
 * Returns the running server with exactly this URL; another listener must not receive the token.
 */
function serverAt(kind: 'baseUrl' | 'controlUrl', url: string): RunFile | undefined {
  const href = URL.canParse(url) ? new URL(url).href : undefined;
  return runningServers().find((runFile) => new URL(runFile[kind]).href === href);
}

/** Returns the only running server. @throws CommandError when there is none, or several */
function onlyServer(option: '--url' | '--control-url', alternatives: string): RunFile {
  const [runFile, ...otherRunFiles] = runningServers();
  if (runFile && otherRunFiles.length === 0) return runFile;
  if (!runFile) {
    throw new CommandError(
      `no running server was found on this machine; start one with npx fleetbed serve, or give ${alternatives}.`,
      exitCodes.setUp,
    );
  }
  const serverLines = [runFile, ...otherRunFiles].map(({ baseUrl, controlUrl, pid, startedAt }) => {
    const [ownUrl, otherUrl] = option === '--url' ? [baseUrl, controlUrl] : [controlUrl, baseUrl];
    const kind = option === '--url' ? 'control' : 'API';
    return `${option} ${ownUrl} (${kind} at ${otherUrl}, process ${pid}, since ${startedAt})`;
  });
  throw new CommandError(
    `${serverLines.length} servers run on this machine; choose one: ${serverLines.join(', ')}.`,
    exitCodes.usage,
  );
}
