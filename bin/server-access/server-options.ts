/** Where the management API is and who the command is there, for commands that need no control listener. */
import type { Command } from 'commander';
import { addLoginOptions, type LoginOptions, loginWays } from '../options/login-options.ts';
import { addUrlOption } from '../options/url-option.ts';
import { fillServer } from './found-server.ts';
import type { RunFile } from './run-file.ts';

/** The values of the options that `addServerOptions` adds, or those of the server on this machine. */
export interface ServerOptions extends LoginOptions {
  readonly url: string;
  /** Path of the PEM file of `--ca`. */
  readonly ca?: string;
  /** The certificate of the server that was found. */
  readonly caPem?: string;
  /** Who the command is when neither token nor password was given. */
  readonly foundAdmin?: Pick<RunFile, 'adminEmail' | 'adminPassword' | 'adminToken'>;
}

/** Adds them; what is not given is that of the server on this machine. */
export function addServerOptions(command: Command): Command {
  addUrlOption(command.optionsGroup('Server:'), {
    description: 'base URL (default: of the server running on this machine)',
  });
  return addLoginOptions(command)
    .option('--ca <file>', "PEM file with the server's certificate or its authority's")
    .optionsGroup('Options:')
    .hook('preAction', () => fillServer(command, loginWays));
}
