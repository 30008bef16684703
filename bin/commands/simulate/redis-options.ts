/** The options for Redis and for the secret that the coordinator shares with its workers. */
import type { OptionRows } from '../../../fixtures/base/option-row.ts';
import { secretVariables } from '../../options/secret-option.ts';
import { CommandError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';

const VARIABLE = secretVariables.workerSecret;
/**
 * The format of the secret. Spaces and line ends are excluded, because they get into a variable
 * unnoticed.
 */
const usable = /^[\x21-\x7e]{16,1024}$/;

/** Returns the options. @param meaning the help text of `--redis` */
export function redisRows(group: string, meaning: string) {
  return {
    redis: {
      flag: '--redis <url>',
      group,
      help: meaning,
      cli: { kind: 'redis-url' },
    },
    redisCa: {
      flag: '--redis-ca <file>',
      group,
      help: 'PEM file with the CA certificate of a rediss:// server',
      cli: { kind: 'file' },
    },
    workerSecret: {
      flag: '--worker-secret <secret>',
      group,
      help: 'secret shared by coordinator and workers',
      cli: { kind: 'worker-secret' },
    },
  } as const satisfies OptionRows;
}

/** Returns the secret of `--worker-secret`. @throws CommandError when it is missing or too short */
export function workerSecret(secret: string | undefined): string {
  if (secret !== undefined && usable.test(secret)) return secret;
  const sentence =
    `--worker-secret (or ${VARIABLE}) must be at least 16 characters without spaces, the same ` +
    'for fleetbed simulate --shards and every fleetbed worker; generate one with: openssl rand -hex 32';
  throw new CommandError(sentence, exitCodes.usage);
}
