import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';

/** The logger that every module receives. Keys of a log line are snake_case. */
export type Logger = PinoLogger;

/** How much is logged. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/**
 * The root logger. One JSON object a line; `destination` replaces standard output, such as a formatter for a terminal.
 */
export function createLogger(level: LogLevel, destination?: DestinationStream): Logger {
  const options = { level, base: {}, timestamp: pino.stdTimeFunctions.isoTime };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** A logger that writes nothing. */
export const silentLogger: Logger = pino({ level: 'silent' });
