/**
 * Reports which devices are connected, and runs user operations on them: terminals, commands and
 * file transfers.
 */
import { basename } from 'node:path/posix';
import { fileMediaType } from '../../../fixtures/contract/management/connect.ts';
import type { VendorNames } from '../../../fixtures/contract/vendor-names.ts';
import type { FileInfo } from '../../../fixtures/formats/connect-bodies.ts';
import { dispositionOf } from '../../http/file-body.ts';
import { Refusal, refuse, stateDetail } from '../../http/refusal.ts';
import { ResponseAborted } from '../../http/response.ts';
import { refuseHandshake } from '../../http/upgrade.ts';
import type { UpgradeRequest } from '../../http/upgrade-request.ts';
import {
  defineEndpoint,
  defineEndpointWithOwnTransactions,
  type UserContext,
} from '../../pipeline/endpoint.ts';
import { discardRest, receiveDeviceFile, UploadRefused } from './device-file-upload.ts';
import { provisionedDevice } from './provisioned-devices.ts';
import { iso } from './views.ts';
import { visibleDevice } from './visible-devices.ts';

const offline = {
  ...stateDetail('a device with an open WebSocket', 'one without'),
  remedy: 'wait until its WebSocket is open, and send the request again',
};

/**
 * Returns a refusal for an error that the device reported, or for a device that is not connected.
 */
function refusalOf({ status, reason }: { readonly status: number; readonly reason: string }) {
  const isOffline = reason === 'device disconnected';
  const ofDevice = {
    path: 'state',
    remedy: "fix what the device's error names, and send the request again",
  };
  return new Refusal(status, reason, { detail: isOffline ? offline : ofDevice });
}

const notConnected = refuse.notFound(
  'device not connected; try again when its WebSocket is open',
  offline,
);

export const getConnection = defineEndpoint('get-connection', ({ parameters }, context) => {
  const connection = context.store.connections.find(parameters.id);
  const findDevice = connection ? visibleDevice : provisionedDevice;
  const device = findDevice(context, parameters.id);
  if (device instanceof Refusal) return device;
  return {
    status: 200,
    body: {
      device_id: device.id,
      status: connection?.status ?? 'disconnected',
      created_ts: iso(connection?.createdMs ?? device.createdMs),
      updated_ts: iso(connection?.updatedMs ?? device.createdMs),
    },
  };
});

export const connectDevice = defineEndpoint('connect-device', ({ parameters }, context) => {
  const { sockets, tenant, user, request } = context;
  const device = visibleDevice(context, parameters.id);
  if (device instanceof Refusal) return device;
  if (!sockets.isConnected(device.id)) {
    return refuse.notFound('failed to connect to device: device disconnected', offline);
  }
  const failure = sockets.refusalFor(device.id);
  if (failure) return refusalOf(failure);
  const access = { user, device, tenant };
  const upgrade = (handover: UpgradeRequest): void => sockets.relay(handover, access);
  return refuseHandshake(request) ?? { status: 101, upgrade };
});

export const checkDeviceUpdate = defineEndpoint(
  'check-device-update',
  ({ parameters }, context) => {
    const device = visibleDevice(context, parameters.id);
    if (device instanceof Refusal) return device;
    const isSent = context.sockets.command(device.id, 'check-update', context.user.id);
    return isSent ? { status: 202, body: null } : notConnected;
  },
);

export const sendDeviceInventory = defineEndpoint(
  'send-device-inventory',
  ({ parameters }, context) => {
    const device = visibleDevice(context, parameters.id);
    if (device instanceof Refusal) return device;
    const isSent = context.sockets.command(device.id, 'send-inventory', context.user.id);
    return isSent ? { status: 202, body: null } : notConnected;
  },
);

export const describeDeviceFile = defineEndpoint(
  'describe-device-file',
  async ({ parameters, query: { path } }, context) => {
    const access = accessTo(context, parameters.id);
    if (access instanceof Refusal) return access;
    const info = await context.sockets.files.describe(access, path);
    if ('reason' in info) return refusalOf(info);
    const headers = {
      'Content-Type': fileMediaType,
      ...fileHeaders(context.headerNames, path, info),
    };
    return { status: 200, headers };
  },
);

export const downloadDeviceFile = defineEndpoint(
  'download-device-file',
  async ({ parameters, query: { path } }, context) => {
    const access = accessTo(context, parameters.id);
    if (access instanceof Refusal) return access;
    const file = await context.sockets.files.read(access, path);
    if ('reason' in file) return refusalOf(file);
    const headers = fileHeaders(context.headerNames, path, file.info);
    return { status: 200, headers, body: wholeOf(file.content) };
  },
);

export const uploadDeviceFile = defineEndpointWithOwnTransactions(
  'upload-device-file',
  async ({ parameters }, context) => {
    const access = accessTo(context, parameters.id);
    if (access instanceof Refusal) return access;
    const failure = context.sockets.refusalFor(parameters.id);
    if (failure) return refusalOf(failure);
    try {
      const upload = await receiveDeviceFile(context.request);
      if (upload instanceof Refusal) return upload;
      const putFields = { src_path: upload.name, ...upload.fields };
      const writeFailure = await context.sockets.files.write(access, putFields, upload.content);
      return writeFailure ? refusalOf(writeFailure) : { status: 201 };
    } catch (error) {
      if (error instanceof UploadRefused) return error.refusal;
      throw error;
    } finally {
      discardRest(context.request);
    }
  },
);

function accessTo(context: UserContext, deviceId: string) {
  const device = visibleDevice(context, deviceId);
  if (device instanceof Refusal) return device;
  const { user, tenant } = context;
  return { user, device, tenant };
}

function fileHeaders({ file }: VendorNames, path: string, info: FileInfo): Record<string, string> {
  const { uid, gid, mode, size } = info;
  return {
    'Content-Disposition': dispositionOf(basename(path)),
    // The path from the request, not the text that the device sent, which may contain anything.
    [file.path]: headerText(path),
    ...(uid !== undefined && { [file.uid]: String(uid) }),
    ...(gid !== undefined && { [file.gid]: String(gid) }),
    ...(mode !== undefined && { [file.mode]: mode.toString(8) }),
    ...(size !== undefined && { [file.size]: String(size) }),
  };
}

/**
 * Encodes the text as UTF-8 with one byte per character, as Node writes headers. Bytes that no
 * header may contain become question marks.
 */
function headerText(text: string): string {
  const bytes = Buffer.from(text).map((byte) => (byte < 0x20 || byte === 0x7f ? 0x3f : byte));
  return Buffer.from(bytes).toString('latin1');
}

async function* wholeOf<Failure extends { readonly reason: string }>(
  content: AsyncGenerator<Uint8Array, Failure | undefined>,
): AsyncGenerator<Uint8Array, void> {
  const failure = yield* content;
  if (failure) throw new ResponseAborted(`the file transfer was interrupted:  ${failure.reason}`);
}
