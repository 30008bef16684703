/** Where the server's own listeners are; whoever opens one writes its address here. */
export interface Addresses {
  /** Of the API; empty until it listens. */
  own: string;
  /** Of the listener for artifact files, where there is one. */
  storage?: string;
  /** Of the console, on the control listener, where there is one. */
  console?: string;
}
