/** The options that say where Redis is. */
import { InvalidArgumentError, Option } from 'commander';
import { SecretOption, secretVariables } from '../secret-option.ts';

/** Where a Redis is and whom it is to trust. */
export interface RedisOptions {
  readonly redis?: string;
  /** PEM file. */
  readonly redisCa?: string;
}

/** The options that say where Redis is. */
export function redisOptions(meaning: string): readonly Option[] {
  return [
    new SecretOption('--redis <url>', meaning, {
      variable: secretVariables.redis,
      parse: redisUrl,
    }),
    new Option('--redis-ca <file>', 'PEM file with the authority of a rediss:// server'),
  ];
}

/** A `redis:` or `rediss:` URL. */
function redisUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isRedis = url && /^rediss?:$/.test(url.protocol) && url.hostname !== '';
  if (isRedis && !url.search && !url.hash && /^\/?\d*$/.test(url.pathname)) return url.href;
  throw new InvalidArgumentError(
    'Accepted: a redis:// URL, or rediss:// with TLS, such as rediss://:PASSWORD@queue.example.com:6379/0.',
  );
}
