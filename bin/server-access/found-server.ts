/**
 * Finds the server of a command: the server that options or environment name, otherwise the server
 * that runs on this machine, by its run file. Given values take precedence; the run file supplies
 * missing ones.
 */
import type { Command } from 'commander';
import { secretVariables } from '../options/secret-option.ts';
import { CommandError } from '../output/command-error.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { type RunFile, runningServers } from './run-file.ts';

/** Source of values from a run file, in addition to commander's own `cli`, `env` and `default`. */
const FOUND = 'run-file';

/** The addresses at which `fleetbed serve` listens by default. */
const defaultUrls = { url: 'http://127.0.0.1:8080', controlUrl: 'http://127.0.0.1:8081' } as const;

/**
 * Fills in `controlUrl` and `controlToken`. @throws CommandError when there is no server, or
 * several
 */
export function fillControl(command: Command): void {
  const { controlUrl: url, controlToken: token } = command.opts<Partial<RunFile>>();
  if (url !== undefined && token !== undefined) return;
  const given = `--control-url and --control-token (env: ${secretVariables.controlToken})`;
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
  const run = url === undefined ? onlyServer('--control-url', given) : serverAt('controlUrl', url);
  if (!run) {
    throw new CommandError(
      `no server started by this user on this machine has its control listener at ${url}; ` +
        `give --control-token (env: ${secretVariables.controlToken}).`,
      exitCodes.usage,
    );
  }
  command.setOptionValueWithSource('controlUrl', run.controlUrl, FOUND);
  command.setOptionValueWithSource('controlToken', run.controlToken, FOUND);
}

/**
 * Fills in `url`, and the user of the run file as `foundAdmin` when neither password nor token is
 * given.
 * @param ways the options that name a user, as a part of a sentence
 * @throws CommandError when there is no server, or several
 */
export function fillServer(command: Command, ways: string): void {
  const options = command.opts<{
    url?: string;
    email: string;
    password?: string;
    token?: string;
  }>();
  const { url, email } = options;
  const hasUser = options.password !== undefined || options.token !== undefined;
  if (url !== undefined && hasUser) return;
  const servers = url === undefined ? runningServers() : [];
  if (hasUser && servers.length === 0) {
    command.setOptionValueWithSource('url', defaultUrls.url, 'default');
    return;
  }
  const run =
    url === undefined ? onlyServer('--url', `--url and ${ways}`) : serverAt('baseUrl', url);
  const isOther = command.getOptionValueSource('email') !== 'default' && run?.adminEmail !== email;
  if (!run || (isOther && !hasUser))
    throw new CommandError(`name a user with ${ways}.`, exitCodes.usage);
  command.setOptionValueWithSource('url', run.baseUrl, FOUND);
  if (run.caPem !== undefined) command.setOptionValueWithSource('caPem', run.caPem, FOUND);
  if (!hasUser) command.setOptionValueWithSource('foundAdmin', run, FOUND);
}

/**
 * Returns the running server with exactly this URL; another listener must not receive the token.
 */
function serverAt(kind: 'baseUrl' | 'controlUrl', url: string): RunFile | undefined {
  return runningServers().find((run) => new URL(run[kind]).href === new URL(url).href);
}

/** Returns the only running server. @throws CommandError when there is none, or several */
function onlyServer(option: '--url' | '--control-url', given: string): RunFile {
  const [run, ...others] = runningServers();
  if (run && others.length === 0) return run;
  if (!run) {
    throw new CommandError(
      `no running server was found on this machine; start one with fleetbed serve, or give ${given}.`,
      exitCodes.setUp,
    );
  }
  const listed = [run, ...others].map(({ baseUrl, controlUrl, pid, startedAt }) => {
    const [chosen, beside] = option === '--url' ? [baseUrl, controlUrl] : [controlUrl, baseUrl];
    const kind = option === '--url' ? 'control' : 'API';
    return `${option} ${chosen} (${kind} at ${beside}, process ${pid}, since ${startedAt})`;
  });
  throw new CommandError(
    `${listed.length} servers run on this machine; choose one: ${listed.join(', ')}.`,
    exitCodes.usage,
  );
}
