import { type Command } from 'commander';
import { type LoadedConfig } from '../config/config.ts';
import { type ServiceUrls } from '../service/open-hosts.ts';
import { createService, type Service } from '../service/service.ts';
import { writeLine, type CliContext } from './cli-context.ts';
import { addConfigOptions, loadCommandConfig, type ParsedOptions } from './config-options.ts';
import { prepareNodeToServe } from './prepare-node.ts';
import { createServiceLog, isHuman } from './terminal-log.ts';

/** `fullmatch start`: serves both documents until a signal stops it. */
export function defineStart(command: Command, context: CliContext): void {
  addConfigOptions(command, { listeners: true }).action(async (options: ParsedOptions) => {
    const loaded = loadCommandConfig(options, context);
    const log = createServiceLog(loaded, context);
    const service = createService(loaded, {
      log,
      loadAgain: () => loadCommandConfig(options, context),
    });
    context.onHangUp(() => void service.reload().catch(() => undefined));
    try {
      const urls = await service.start();
      prepareNodeToServe();
      if (!context.signal.aborted) await announce(service, urls, loaded, context);
      await aborted(context.signal);
      log.info({ event: 'stopping' }, 'stopping');
    } finally {
      await service.close();
    }
    log.info({ event: 'stopped' }, 'stopped');
  });
}

/** Scripts wait for the ready line, so it is not a log line that a log level could hide. */
async function announce(
  service: Service,
  urls: ServiceUrls,
  loaded: LoadedConfig,
  context: CliContext,
): Promise<void> {
  const { apiUrl, repositoryUrl, metricsUrl, operatorUrl } = urls;
  if (isHuman(loaded, context.stdout)) {
    const { describeReadiness } = await import('./ready-banner.ts');
    const banner = describeReadiness(urls, await service.facts());
    for (const line of banner) writeLine(context.stdout, line);
    return;
  }
  const line = {
    level: 30,
    time: new Date().toISOString(),
    event: 'ready',
    ...(apiUrl === undefined ? {} : { api_url: apiUrl }),
    ...(repositoryUrl === undefined ? {} : { repository_url: repositoryUrl }),
    ...(metricsUrl === undefined ? {} : { metrics_url: metricsUrl }),
    ...(operatorUrl === undefined ? {} : { operator_url: operatorUrl }),
    msg: 'ready',
  };
  writeLine(context.stdout, JSON.stringify(line));
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
