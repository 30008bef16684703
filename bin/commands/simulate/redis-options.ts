/** The options for Redis and for the secret that the coordinator shares with its workers. */
import type { OptionRows } from '../../../fixtures/base/option-row.ts';
import { secretVariables } from '../../../fixtures/base/secret-variables.ts';
import type { ValueRule } from '../../../fixtures/base/value-rules.ts';
import { CommandError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';

const VARIABLE = secretVariables.workerSecret;
/**
 * The format of the secret. Spaces and line ends are excluded, because they get into a variable
 * unnoticed.
 */
const usable = /^[\x21-\x7e]{16,1024}$/;

const redisUrl: ValueRule = {
  read(text) {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isRedis = url && /^rediss?:$/.test(url.protocol) && url.hostname !== '';
    const isPlain = isRedis && !url.search && !url.hash && /^\/?\d*$/.test(url.pathname);
    return isPlain ? url.href : undefined;
  },
  accepted:
    'a redis:// URL, or rediss:// with TLS, such as rediss://:PASSWORD@queue.example.com:6379/0',
};

/** Returns the options. @param meaning the help text of `--redis` */
export function redisRows(group: string, meaning: string) {
  return {
    redis: {
      flag: '--redis <url>',
      group,
      help: meaning,
      cli: { kind: 'secret', variable: secretVariables.redis, rule: redisUrl },
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
      cli: { kind: 'secret', variable: VARIABLE },
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
