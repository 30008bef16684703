/**
 * An example of a hook for `fleetbed conform --hooks`: one program for all steps. This one calls
 * the management API of the reference server with the token in HOOK_TOKEN; a real hook would call
 * another management system. It needs only Node.
 */
import { text } from 'node:stream/consumers';

const NOT_HERE = 3;
const FAILED = 1;

const { step, baseUrl, input } = JSON.parse(await text(process.stdin));
const token = process.env.HOOK_TOKEN ?? '';
const v1 = `${baseUrl}/api/management/v1`;
const v2 = `${baseUrl}/api/management/v2`;
const devices = `${v2}/devauth/devices`;

/** Calls the management API and returns the response. @throws Error for an unexpected status */
async function send(method, url, { json, form, statuses = [200, 201, 204] } = {}) {
  const headers = { Authorization: `Bearer ${token}` };
  if (json !== undefined) headers['Content-Type'] = 'application/json';
  const body = form ?? (json === undefined ? undefined : JSON.stringify(json));
  const response = await fetch(url, { method, headers, body });
  if (statuses.includes(response.status)) return response;
  throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
}

const getJson = async (url, options) => (await send('GET', url, options)).json();
const createdId = (response) => response.headers.get('location')?.split('/').at(-1);

async function shownOrNull(url, name, read = (response) => response.json()) {
  const response = await send('GET', url, { statuses: [200, 404] });
  return { [name]: response.status === 404 ? null : await read(response) };
}

async function decide(status) {
  const { auth_sets: sets } = await getJson(`${devices}/${input.deviceId}`);
  const set = sets.find(({ pubkey }) => pubkey.trim() === input.publicKeyPem.trim());
  await send('PUT', `${devices}/${input.deviceId}/auth/${set.id}/status`, { json: { status } });
}

async function upload() {
  const form = new FormData();
  form.set('artifact', new Blob([Buffer.from(input.contentBase64, 'base64')]), input.fileName);
  const response = await send('POST', `${v1}/deployments/artifacts`, {
    form,
    statuses: [201, 409, 422],
  });
  return { artifactId: response.status === 201 ? createdId(response) : null };
}

async function find() {
  const query = input.status === null ? '' : `&status=${input.status}`;
  const page = await getJson(`${devices}?per_page=500${query}`);
  const found = page.find((device) => device.identity_data.serial === input.identity.serial);
  return { device: found ?? null };
}

const steps = {
  login: () => ({ token }),
  'find-device': find,
  'show-device': () => shownOrNull(`${devices}/${input.deviceId}`, 'device'),
  preauthorize: async () => {
    const json = { identity_data: input.identity, pubkey: input.publicKeyPem };
    return { deviceId: createdId(await send('POST', devices, { json })) };
  },
  accept: () => decide('accepted'),
  reject: () => decide('rejected'),
  decommission: async () => {
    await send('DELETE', `${devices}/${input.deviceId}`, { statuses: [204, 404] });
  },
  'upload-artifact': upload,
  'find-artifact': async () => {
    const listed = await getJson(`${v2}/deployments/artifacts?name=${input.name}`);
    const found = listed.find((each) => each.device_types_compatible.includes(input.deviceType));
    return { artifactId: found?.id ?? null };
  },
  'delete-artifact': async () => {
    const url = `${v1}/deployments/artifacts/${input.artifactId}`;
    await send('DELETE', url, { statuses: [204, 404] });
  },
  deploy: async () => {
    const response = await send('POST', `${v1}/deployments/deployments`, {
      json: input.deployment,
    });
    return { deploymentId: createdId(response) };
  },
  'find-deployment': async () => {
    const listed = await getJson(`${v2}/deployments/deployments?name=${input.name}`);
    return { deploymentId: listed[0]?.id ?? null };
  },
  abort: async () => {
    const url = `${v1}/deployments/deployments/${input.deploymentId}/status`;
    await send('PUT', url, { json: { status: 'aborted' }, statuses: [204, 404, 422] });
  },
  'device-deployment': async () => {
    const url = `${v1}/deployments/deployments/${input.deploymentId}/devices/list`;
    const listed = await getJson(url);
    return { deviceDeployment: listed.find(({ id }) => id === input.deviceId) ?? null };
  },
  'deployment-log': () => {
    const { deploymentId, deviceId } = input;
    const url = `${v1}/deployments/deployments/${deploymentId}/devices/${deviceId}/log`;
    return shownOrNull(url, 'log', (response) => response.text());
  },
};

try {
  const apply = steps[step];
  if (!apply) {
    process.stderr.write(`this hook cannot ${step}\n`);
    process.exitCode = NOT_HERE;
  } else process.stdout.write(JSON.stringify((await apply()) ?? {}));
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = FAILED;
}
