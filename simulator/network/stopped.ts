/** The end of a run, thrown to whoever still waits or exchanges. Not a fault: it is never counted. */
export class FleetStopped extends Error {
  override readonly name = 'FleetStopped';

  constructor() {
    super('the run is over');
  }
}
