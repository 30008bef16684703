/** Devices whose update does not go through: what fails on the device, and how the server hears of it. */
import { type Behaviour, defineBehaviour } from '../behaviour.ts';

const YEAR_MS = 366 * 86_400_000;
const DIGIT_ZERO = 0x30;

export const failing: readonly Behaviour[] = [
  defineBehaviour({
    name: 'failing-install',
    standsFor: 'A device whose storage is worn out: writing the payload fails, and it says so.',
    goodServer: 'Records failure with the uploaded log, and offers that deployment no more.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: {
      async whileInstalling(moment) {
        moment.log('warning', 'mmc0: data error, sector 2097152, retrying');
        moment.log('error', 'writing the payload: input/output error');
        moment.fail('the payload could not be written: input/output error');
      },
    },
  }),
  defineBehaviour({
    name: 'failing-commit',
    standsFor: 'A device whose new software does not pass its own check: it goes back to the old.',
    goodServer:
      'Records failure after rebooting, and still sees the old artifact in its inventory.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: {
      async whileCommitting(moment) {
        moment.log('error', 'health check: telemetry.service is not running');
        moment.fail('the new artifact did not pass the check before commit');
      },
    },
  }),
  defineBehaviour({
    name: 'wrong-checksum',
    standsFor: 'A device behind a cache, or with bad memory, that spoils a byte of what it loads.',
    goodServer: 'Records failure with a log that names the checksum; its own file is untouched.',
    // In every artifact the manifest's first digit stands there, and it is one of a checksum.
    parameters: { installMs: 200, rebootMs: 300, spoiledAtBytes: 1536 },
    hooks: {
      async whileDownloading({ parameters, fromByte }, piece) {
        const at = parameters.spoiledAtBytes - fromByte;
        const byte = piece[at];
        if (byte === undefined) return piece;
        const spoiled = Buffer.from(piece);
        spoiled.writeUInt8(byte === DIGIT_ZERO ? DIGIT_ZERO + 1 : DIGIT_ZERO, at);
        return spoiled;
      },
    },
  }),
  defineBehaviour({
    name: 'disk-full',
    standsFor: 'A device whose data partition is full of old logs: the artifact finds no room.',
    goodServer: 'Records failure with a log that says so; the broken-off download harms nobody.',
    parameters: { installMs: 200, rebootMs: 300, freeBytes: 4096 },
    hooks: {
      async whileDownloading({ parameters, fromByte, log, fail }, piece) {
        if (fromByte + piece.length <= parameters.freeBytes) return piece;
        log('error', `writing at ${parameters.freeBytes} bytes: no space left on device`);
        return fail('no space left on device');
      },
    },
  }),
  defineBehaviour({
    name: 'reject',
    standsFor:
      'A device with a person before it who says no, or a rule that keeps this release off.',
    goodServer:
      'Records failure without a download, keeps the reason in the log, offers it no more.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: {
      async whenOffered(moment) {
        moment.log('warning', 'the update was turned down on the device');
        return moment.fail('the update was rejected on the device');
      },
    },
  }),
  defineBehaviour({
    name: 'hang-while-downloading',
    standsFor: 'A device whose modem stalls in the middle of the file and comes back much later.',
    goodServer:
      'Shows downloading meanwhile, frees the dead connection, and serves the rest by range.',
    parameters: { installMs: 200, rebootMs: 300, hangAfterBytes: 2048, hangMs: 600_000 },
    hooks: {
      async whileDownloading({ parameters, memory, fromByte, rest }, piece) {
        const reached = fromByte + piece.length > parameters.hangAfterBytes;
        if (memory.hung === undefined && reached) {
          memory.hung = 1;
          await rest(parameters.hangMs);
        }
        return piece;
      },
    },
  }),
  defineBehaviour({
    name: 'hang-for-ever',
    standsFor: 'A device whose installer waits for a lock that nobody lets go of.',
    goodServer: 'Shows installing for as long as nobody aborts it, and lets the others finish.',
    parameters: { installMs: 200, rebootMs: 300, hangMs: YEAR_MS },
    hooks: {
      async whileInstalling({ parameters, rest }) {
        await rest(parameters.hangMs);
      },
    },
  }),
  defineBehaviour({
    name: 'reboot-loop',
    standsFor: 'A device that comes up for a moment and restarts, until its boot loader goes back.',
    goodServer:
      'Takes rebooting several times with a sign-in between, then failure; one part in all.',
    parameters: { installMs: 200, rebootMs: 300, rebootsCount: 3 },
    hooks: {
      async afterReboot({ parameters, reboots, log, fail }) {
        log('error', `boot ${reboots} of the new artifact: watchdog reset`);
        if (reboots < parameters.rebootsCount) return 'down-again';
        return fail(`${reboots} boots failed; the boot loader went back to the old artifact`);
      },
    },
  }),
  defineBehaviour({
    name: 'bricked',
    standsFor: 'A device that does not come up again: only a visit with a cable can help it.',
    goodServer: 'Shows rebooting and a disconnected device until an operator aborts or removes it.',
    parameters: { installMs: 200, rebootMs: 300, offMs: YEAR_MS },
    hooks: {
      async afterReboot({ parameters, losePower }) {
        return losePower(parameters.offMs);
      },
    },
  }),
  defineBehaviour({
    name: 'crash-and-resume',
    standsFor: 'A device whose power is cut in the middle of a download and comes back.',
    goodServer:
      'Offers the same deployment again with a fresh link, serves the rest by range with 206, and records its success once.',
    parameters: { installMs: 200, rebootMs: 300, crashAfterBytes: 2048, offMs: 5000 },
    hooks: {
      async whileDownloading({ parameters, beginning, fromByte, losePower }, piece) {
        const reached = fromByte + piece.length > parameters.crashAfterBytes;
        return beginning === 1 && reached ? losePower(parameters.offMs) : piece;
      },
    },
  }),
  defineBehaviour({
    name: 'aborted-midway',
    standsFor: 'A device that its operator takes out of the deployment while it installs.',
    goodServer:
      'Answers its next report with 409, keeps aborted, and offers that deployment no more.',
    parameters: { installMs: 200, rebootMs: 300 },
    hooks: {
      async whileInstalling(moment) {
        const aborted = await moment.askForAbort();
        moment.log('info', aborted ? 'the operator aborted the update' : 'nobody could abort it');
      },
    },
  }),
  defineBehaviour({
    name: 'big-logs',
    standsFor: 'A device in debug mode that writes thousands of lines before its update fails.',
    goodServer: 'Takes a log near the largest body that it allows, and shows it to its end.',
    parameters: { installMs: 200, rebootMs: 300, linesCount: 5000, lineBytes: 80 },
    hooks: {
      async whileInstalling({ parameters, log, fail }) {
        for (let line = 1; line <= parameters.linesCount; line++) {
          log('debug', `line ${line} `.padEnd(parameters.lineBytes, '.'));
        }
        fail('the installer gave up after a long tale');
      },
    },
  }),
];
