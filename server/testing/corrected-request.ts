/** Sends the corrected request of an explanation, with values in place of its variables. */
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { Explanation } from '../explain/explain.ts';
import { operationAt } from '../explain/nearest.ts';
import { exampleOf } from './example.ts';
import { artifactBytes } from './test-artifacts.ts';
import { type AcceptedDevice, signatureOf } from './test-device.ts';
import type { TestResponse, TestServer } from './test-server.ts';
import { testPassword } from './test-tenants.ts';

type CorrectedRequest = NonNullable<Explanation['correctedRequest']>;

/** The device and the user token that send the request. */
export interface RequestSender {
  readonly device: AcceptedDevice;
  readonly userToken: string;
  /** The variables that the explanation asks the reader to set, with their meanings. */
  readonly variables: Explanation['variables'];
}

const rows: readonly Operation[] = Object.values({
  ...operations,
  ...managementOperations,
  ...storageOperations,
});

/** These variables have their own values below. */
const knownVariables: ReadonlySet<string> = new Set([
  '$TOKEN',
  '$ARTIFACT_NAME',
  '$RELEASE_NAME',
  '$DEVICE_TYPE',
  '$DEVICE_ID',
  '$ID_DATA',
  '$PUBLIC_KEY',
]);

/** Values for the variables that only the reader knows. */
const anyId = '00000000-0000-4000-8000-000000000009';

/** Sends the request as a reader of the explanation would; any other variable becomes an ID. */
export async function sendCorrected(
  server: TestServer,
  request: CorrectedRequest,
  sender: RequestSender,
): Promise<TestResponse> {
  const { method } = request;
  const operation = operationAt(request.path.split('?')[0] ?? '', [method], rows);
  if (!operation) throw new Error(`the corrected request is of no operation: ${request.path}`);
  const fill = filler(operation, sender);
  const variablesInBody: readonly string[] = request.body?.match(/\$[A-Z][A-Z0-9_]*/g) ?? [];
  const isFile = variablesInBody.includes('$BODY_FILE');
  const { 'Content-Type': type, ...otherHeaders } = request.headers;
  const headers = Object.fromEntries(
    Object.entries(otherHeaders).map(([name, value]) => [name, fill(value)]),
  );
  const path = fill(request.path);
  if (type === 'multipart/form-data') {
    return server.request(method, path, { headers, body: await formOf(request) });
  }
  // Where the server does not know the body, the reader supplies one.
  const isChosen = variablesInBody.some((name) => !knownVariables.has(name)) || isFile;
  const text =
    isChosen && operation.body ? JSON.stringify(exampleOf(operation.body)) : request.body;
  const body = text === undefined ? undefined : fill(text);
  return server.request(method, path, {
    headers: {
      ...headers,
      ...(type !== undefined && { 'Content-Type': type }),
      ...proofOf(operation, { server, sender, body }),
    },
    ...(body !== undefined && { body }),
  });
}

function filler(
  operation: Operation,
  { device, userToken, variables }: RequestSender,
): (text: string) => string {
  const token = operation.authorization === 'user' ? userToken : device.token;
  const values: Readonly<Record<string, string>> = {
    TOKEN: token,
    ARTIFACT_NAME: 'release-1',
    RELEASE_NAME: 'release-1',
    DEVICE_TYPE: 'raspberrypi4',
    DEVICE_ID: device.id,
    ID_DATA: JSON.stringify(device.idData).slice(1, -1),
    PUBLIC_KEY: JSON.stringify(device.publicKeyPem).slice(1, -1),
  };
  const valueNamed = (name: string): string => {
    const meaning = variables[name] ?? '';
    // A meaning that is a single word is the only possible value.
    return values[name] ?? (/^\w+$/.test(meaning) ? meaning : anyId);
  };
  return (text) => text.replace(/\$([A-Z][A-Z0-9_]*)/g, (_, name: string) => valueNamed(name));
}

interface CorrectionTrial {
  readonly server: TestServer;
  readonly sender: RequestSender;
  readonly body: string | undefined;
}

function proofOf({ authorization }: Operation, { server, sender, body = '' }: CorrectionTrial) {
  if (authorization === 'signature') {
    return { [`${server.headerPrefix}-Signature`]: signatureOf(body, sender.device.privateKey) };
  }
  if (authorization !== 'basic') return {};
  const credentials = Buffer.from(`${server.adminEmail}:${testPassword}`).toString('base64');
  return { Authorization: `Basic ${credentials}` };
}

async function formOf({ body = '' }: CorrectedRequest): Promise<FormData> {
  const form = new FormData();
  for (const line of body.split('\n')) {
    const [name = '', value = ''] = line.split(/=(.*)/);
    if (value.startsWith('@')) {
      form.append(name, new Blob([new Uint8Array(await artifactBytes())]), 'release.mender');
    } else form.append(name, value);
  }
  return form;
}
