/** The server and the user of commands that call only the management API. */
import type { Command } from 'commander';
import { addLoginOptions, type LoginOptions, loginWays } from '../options/login-options.ts';
import { caOption } from '../options/shared-options.ts';
import { addUrlOption } from '../options/url-option.ts';
import { controlUrlOption } from './control-listener.ts';
import { fillServerOptions } from './found-server.ts';
import type { RunFile } from './run-file.ts';

/**
 * The values of the options that `addServerOptions` adds, completed by the run file of the server
 * on this machine.
 */
export interface ServerAccess extends LoginOptions {
  readonly url: string;
  /** Path of the PEM file of `--ca`. */
  readonly ca?: string;
  /** The CA certificate in the run file of the server, PEM. */
  readonly caPem?: string;
  /** The user in the run file; used when neither token nor password is given. */
  readonly foundAdmin?: Pick<RunFile, 'adminEmail' | 'adminPassword' | 'adminToken'>;
}

/** Adds the options. Missing values come from the run file of the server on this machine. */
export function addServerOptions(command: Command): Command {
  addUrlOption(command.optionsGroup('Server:'), {
    description: 'base URL of the API (default: that of the server running on this machine)',
  });
  return addLoginOptions(command.addOption(controlUrlOption()))
    .addOption(caOption())
    .optionsGroup('Options:')
    .hook('preAction', () => fillServerOptions(command, loginWays));
}
