/**
 * The options of a plan that concern the server, and the credentials of the fleet and its user.
 */
import * as v from 'valibot';
import { groupRows } from '../../fixtures/base/option-row.ts';
import { secretVariables } from '../../fixtures/base/secret-variables.ts';
import { textRules } from '../../fixtures/base/value-rules.ts';
import { defaultHeaderPrefix, headerPrefixPattern } from '../../fixtures/contract/vendor-names.ts';
import type { UngroupedPlanOptions } from './option-row.ts';
import { duration, nonEmptyText, number, yesOrNo } from './plan-values.ts';

const defaultUrl = 'http://127.0.0.1:8080';
const baseUrlSaid = `must be an http or https URL such as ${defaultUrl}`;
const SOURCE_ADDRESSES_MAX = 256;

/**
 * A row with `cli: { kind: 'own' }` has neither flag nor help, because several commands share its
 * option, which brings them.
 */
export const connectionOptions = groupRows('Connection', {
  /** Base URL of the server, without the path of the API. */
  url: {
    cli: { kind: 'own' },
    default: { value: defaultUrl },
    field: 'baseUrl',
    value: v.pipe(
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
    help: 'accept the devices as the user of --email or --token',
    cli: { kind: 'switch' },
    value: yesOrNo,
    owner: 'worker',
  },
  email: { cli: { kind: 'own' }, value: nonEmptyText, owner: 'worker' },
  password: { cli: { kind: 'own' }, value: nonEmptyText, owner: 'worker' },
  token: { cli: { kind: 'own' }, value: nonEmptyText, owner: 'worker' },
  tenantToken: {
    flag: '--tenant-token <token>',
    help: 'tenant token sent by the devices',
    cli: { kind: 'secret', variable: secretVariables.tenantToken },
    value: nonEmptyText,
    field: 'tenantToken',
    owner: 'worker',
  },
  headerPrefix: {
    flag: '--header-prefix <prefix>',
    help: "vendor prefix of the API's header names",
    cli: { kind: 'header-prefix' },
    default: { value: defaultHeaderPrefix },
    field: 'headerPrefix',
    value: v.pipe(
      v.string(),
      v.regex(headerPrefixPattern, `must be ${textRules['header-prefix'].accepted}`),
    ),
    result: v.exactOptional(v.string()),
  },
  /** The limit applies to a whole response, and to each pause in a download. */
  requestTimeLimit: {
    flag: '--request-time-limit <duration>',
    help: 'time limit of a request',
    cli: { kind: 'positive-duration' },
    default: { value: '30s', text: '30s' },
    value: duration(1),
    field: 'requestTimeLimitMs',
    result: v.exactOptional(number),
  },
  /** Paths of files are relative to the working directory of the command. */
  ca: {
    flag: '--ca <file>',
    help: 'PEM file with the certificate of the server or of its CA',
    cli: { kind: 'file' },
    value: nonEmptyText,
    owner: 'worker',
  },
  cert: {
    flag: '--cert <file>',
    help: "PEM file with the fleet's client certificate; needs --key",
    cli: { kind: 'file' },
    value: nonEmptyText,
    owner: 'worker',
  },
  key: {
    flag: '--key <file>',
    help: 'PEM file with the private key of --cert',
    cli: { kind: 'file' },
    value: nonEmptyText,
    owner: 'worker',
  },
  sourceAddresses: {
    flag: '--source-addresses <addresses>',
    help: 'local addresses to connect from, used in turn',
    cli: { kind: 'addresses' },
    field: 'sourceAddresses',
    value: v.pipe(
      v.array(v.pipe(v.string(), v.ip('must be an IP address'))),
      v.minLength(1, 'must have at least one address'),
      v.maxLength(SOURCE_ADDRESSES_MAX, `must have at most ${SOURCE_ADDRESSES_MAX} addresses`),
    ),
    owner: 'worker',
    lack: 'source addresses',
  },
} as const satisfies UngroupedPlanOptions);
