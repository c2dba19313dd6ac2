/** Installs the real clients that the slow suite runs, before several of its files need the same one. */
import { CLIENTS, installClient, NO_CLIENTS } from '../test/support/clients/install-client.ts';

for (const name of NO_CLIENTS === undefined ? CLIENTS : []) await installClient(name);
