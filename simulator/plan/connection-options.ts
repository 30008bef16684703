/** The options of a plan about the server and the credentials of the fleet and its user. */

import * as v from 'valibot';
import { defaultHeaderPrefix, headerPrefixPattern } from '../../fixtures/contract/vendor-names.ts';
import { inGroup } from '../../fixtures/option-row.ts';
import type { UngroupedRows } from './option-row.ts';
import { filled, milliseconds, number } from './plan-values.ts';
import { optionalDuration } from './word-values.ts';

const baseUrlSaid = 'must be an http or https URL such as http://127.0.0.1:8080';
const SOURCE_ADDRESSES_MAX = 256;
const text = v.optional(filled);

/** Options shared between commands bring their own flag and help. */
export const connectionOptions = inGroup('Connection', {
  /** Without the API's path. */
  url: {
    cli: { kind: 'own' },
    word: text,
    field: 'baseUrl',
    plan: v.pipe(
      v.string(baseUrlSaid),
      v.check((url) => /^https?:\/\//i.test(url) && URL.canParse(url), baseUrlSaid),
      v.check(
        (url) => !URL.canParse(url) || /^[^?#@]*$/.test(url),
        'must not contain a user, query or fragment',
      ),
    ),
    owner: 'worker',
    result: v.string(),
  },
  accept: {
    flag: '--accept',
    help: 'accept the devices, as the user of --email or --token',
    cli: { kind: 'switch' },
    word: v.optional(v.boolean('must be true or false')),
  },
  email: { cli: { kind: 'own' }, word: text },
  password: { cli: { kind: 'own' }, word: text },
  token: { cli: { kind: 'own' }, word: text },
  tenantToken: {
    flag: '--tenant-token <token>',
    help: 'tenant token sent by the devices',
    cli: { kind: 'tenant-token' },
    word: text,
    field: 'tenantToken',
    plan: text,
    owner: 'worker',
    isSecret: true,
  },
  headerPrefix: {
    flag: '--header-prefix <prefix>',
    help: "vendor prefix of the API's header names",
    cli: { kind: 'header-prefix' },
    usual: { value: defaultHeaderPrefix },
    word: text,
    field: 'headerPrefix',
    plan: v.pipe(
      v.string(),
      v.regex(headerPrefixPattern, 'must be letters, digits and single dashes, such as X-SVC'),
    ),
    result: v.exactOptional(v.string()),
  },
  /** For a whole response, and for each pause in a download. */
  requestTimeLimit: {
    flag: '--request-time-limit <duration>',
    help: 'time limit of a request',
    cli: { kind: 'positive-duration' },
    usual: { value: 30_000, shown: '30s' },
    word: optionalDuration,
    field: 'requestTimeLimitMs',
    plan: milliseconds(1),
    result: v.exactOptional(number),
  },
  /** Files, relative to the working directory of the command. */
  ca: {
    flag: '--ca <file>',
    help: 'PEM file with the certificate of the server or of its authority',
    cli: { kind: 'file' },
    word: text,
  },
  cert: {
    flag: '--cert <file>',
    help: "PEM file with the fleet's client certificate; needs --key",
    cli: { kind: 'file' },
    word: text,
  },
  key: {
    flag: '--key <file>',
    help: 'PEM file with the private key of --cert',
    cli: { kind: 'file' },
    word: text,
  },
  sourceAddresses: {
    flag: '--source-addresses <addresses>',
    help: 'local addresses to connect from, in turn',
    cli: { kind: 'addresses' },
    word: v.optional(v.array(filled)),
    field: 'sourceAddresses',
    plan: v.optional(
      v.pipe(
        v.array(v.pipe(v.string(), v.ip('must be an IP address'))),
        v.minLength(1, 'must have at least one address'),
        v.maxLength(SOURCE_ADDRESSES_MAX, `must have at most ${SOURCE_ADDRESSES_MAX} addresses`),
      ),
    ),
    owner: 'worker',
    lack: 'source addresses',
  },
} as const satisfies UngroupedRows);
