/**
 * Example of a behaviour file for `fleetbed simulate --behaviour-file`. Node 22.18 and newer runs
 * it directly; older versions run `example.mjs`, its JavaScript equivalent.
 */
import { defineBehaviour } from './behaviour.ts';

export default defineBehaviour({
  name: 'doubtful-battery',
  description:
    'A device on a battery that postpones an installation once while the battery is cold.',
  expectedServerBehaviour:
    'Offers the same deployment again when the device is back, and counts one success.',
  parameters: { installMs: 200, rebootMs: 300, warmUpMs: 500, coldShare: 0.5 },
  hooks: {
    async whenOffered(context) {
      const { coldShare, warmUpMs } = context.parameters;
      const isCold = context.chance('cold').fraction() < coldShare;
      if (!isCold || context.attempt > 1) return 'update';
      context.log('warning', 'the battery is too cold; switching off until it is warm');
      return context.losePower(warmUpMs);
    },
  },
});
