/** Devices whose update fails: what fails on the device, and how the server learns of it. */
import { type Behaviour, defineBehaviour } from '../behaviour.ts';

const YEAR_MS = 366 * 86_400_000;
const DIGIT_ZERO = 0x30;

export const failing: readonly Behaviour[] = [
  defineBehaviour({
    name: 'failing-install',
    description:
      'A device whose storage is worn out: writing the payload fails, and it reports failure.',
    expectedServerBehaviour:
      'Records failure with the uploaded log, and does not offer the deployment again.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: {
      async whileInstalling(context) {
        context.log('warning', 'mmc0: data error, sector 2097152, retrying');
        context.log('error', 'writing the payload: input/output error');
        context.fail('the payload could not be written: input/output error');
      },
    },
  }),
  defineBehaviour({
    name: 'failing-commit',
    description: 'A device whose new software fails its own check and rolls back.',
    expectedServerBehaviour:
      'Records failure after rebooting; the inventory still shows the old artifact.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: {
      async whileCommitting(context) {
        context.log('error', 'health check: telemetry.service is not running');
        context.fail('the new artifact did not pass the check before commit');
      },
    },
  }),
  defineBehaviour({
    name: 'wrong-checksum',
    description: 'A device that receives a corrupted byte, from a bad cache or bad memory.',
    expectedServerBehaviour:
      'Records failure with a log that names the checksum; the file on the server is unchanged.',
    // At this offset every artifact has the first hexadecimal digit of the manifest's first
    // checksum.
    parameters: { installMs: 200, rebootMs: 300, spoiledAtBytes: 1536 },
    hooks: {
      async whileDownloading({ parameters, fromByte }, chunk) {
        const at = parameters.spoiledAtBytes - fromByte;
        const byte = chunk[at];
        if (byte === undefined) return chunk;
        const spoiled = Buffer.from(chunk);
        spoiled.writeUInt8(byte === DIGIT_ZERO ? DIGIT_ZERO + 1 : DIGIT_ZERO, at);
        return spoiled;
      },
    },
  }),
  defineBehaviour({
    name: 'disk-full',
    description: 'A device whose data partition is full, so that the artifact does not fit.',
    expectedServerBehaviour:
      'Records failure with a log that says so; the aborted download affects no other device.',
    parameters: { installMs: 200, rebootMs: 300, freeBytes: 4096 },
    hooks: {
      async whileDownloading({ parameters, fromByte, log, fail }, chunk) {
        if (fromByte + chunk.length <= parameters.freeBytes) return chunk;
        log('error', `writing at ${parameters.freeBytes} bytes: no space left on device`);
        return fail('no space left on device');
      },
    },
  }),
  defineBehaviour({
    name: 'refuse',
    description: 'A device whose policy declines this release.',
    expectedServerBehaviour:
      'Records failure without a download, keeps the reason in the log, and does not offer the deployment again.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: {
      async whenOffered(context) {
        context.log('warning', 'the update was refused on the device');
        return context.fail('the update was refused on the device');
      },
    },
  }),
  defineBehaviour({
    name: 'hang-while-downloading',
    description: 'A device whose modem stalls in the middle of a download and recovers much later.',
    expectedServerBehaviour:
      'Shows downloading meanwhile, closes the dead connection, and serves the rest by range.',
    parameters: { installMs: 200, rebootMs: 300, hangAfterBytes: 2048, hangMs: 600_000 },
    hooks: {
      async whileDownloading({ parameters, memory, fromByte, sleep }, chunk) {
        const isReached = fromByte + chunk.length > parameters.hangAfterBytes;
        if (memory.hung === undefined && isReached) {
          memory.hung = 1;
          await sleep(parameters.hangMs);
        }
        return chunk;
      },
    },
  }),
  defineBehaviour({
    name: 'hang-for-ever',
    description: 'A device whose installer waits forever for a lock.',
    expectedServerBehaviour:
      'Shows installing until the deployment is aborted, and lets the other devices finish.',
    parameters: { installMs: 200, rebootMs: 300, hangMs: YEAR_MS },
    hooks: {
      async whileInstalling({ parameters, sleep }) {
        await sleep(parameters.hangMs);
      },
    },
  }),
  defineBehaviour({
    name: 'reboot-loop',
    description: 'A device that restarts several times until its boot loader rolls back.',
    expectedServerBehaviour:
      'Accepts rebooting several times and authenticating again in between, then failure; counts it once.',
    parameters: { installMs: 200, rebootMs: 300, rebootsCount: 3 },
    hooks: {
      async afterReboot({ parameters, reboots, log, fail }) {
        log('error', `boot ${reboots} of the new artifact: watchdog reset`);
        if (reboots < parameters.rebootsCount) return 'down-again';
        return fail(`${reboots} boots failed; the boot loader rolled back to the old artifact`);
      },
    },
  }),
  defineBehaviour({
    name: 'bricked',
    description: 'A device that never comes up again after the update.',
    expectedServerBehaviour:
      'Shows rebooting and a disconnected device until a user aborts the deployment or removes it.',
    parameters: { installMs: 200, rebootMs: 300, offMs: YEAR_MS },
    hooks: {
      async afterReboot({ parameters, losePower }) {
        return losePower(parameters.offMs);
      },
    },
  }),
  defineBehaviour({
    name: 'crash-and-resume',
    description: 'A device that loses power in the middle of a download and comes back.',
    expectedServerBehaviour:
      'Offers the same deployment again with a new link, serves the rest by range with 206, and records success once.',
    parameters: { installMs: 200, rebootMs: 300, crashAfterBytes: 2048, offMs: 5000 },
    hooks: {
      async whileDownloading({ parameters, attempt, fromByte, losePower }, chunk) {
        const isReached = fromByte + chunk.length > parameters.crashAfterBytes;
        return attempt === 1 && isReached ? losePower(parameters.offMs) : chunk;
      },
    },
  }),
  defineBehaviour({
    name: 'aborted-midway',
    description: 'A device whose update is aborted by a user while it installs.',
    expectedServerBehaviour:
      'Answers its next report with 409, keeps aborted, and does not offer the deployment again.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: {
      async whileInstalling(context) {
        const aborted = await context.requestAbort();
        context.log(
          'info',
          aborted ? 'a user aborted the deployment' : 'no user could abort the deployment',
        );
      },
    },
  }),
  defineBehaviour({
    name: 'big-logs',
    description:
      'A device in debug mode that writes thousands of log lines before its update fails.',
    expectedServerBehaviour: 'Accepts a log close to its body limit, and returns all of it.',
    parameters: { installMs: 200, rebootMs: 300, linesCount: 4900, lineBytes: 80 },
    hooks: {
      async whileInstalling({ parameters, log, fail }) {
        for (let line = 1; line <= parameters.linesCount; line++) {
          log('debug', `line ${line} `.padEnd(parameters.lineBytes, '.'));
        }
        fail('the installer gave up');
      },
    },
  }),
];
