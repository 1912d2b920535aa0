import { join } from 'node:path'
import { openLog } from '../log.ts'
import { CannotStart } from '../config.ts'
import { executorFlags, executorOf } from './executors.ts'
import { stopRequested } from './stop.ts'
import { Misuse, numberOf, type Verb } from './verb.ts'

/** An environment variable, because every user of the machine can read command lines. */
const TOKEN_VARIABLE = 'MORTISE_RUNNER_TOKEN'
const DEFAULT_GRACE_S = 60
const MOST_AT_A_TIME = 256
const DEFAULT_LOG_KB = 4096

export const runner: Verb = {
  summary: 'Run CI jobs of a server, in the shell as the current user or in containers',
  flags: {
    server: { value: 'URL', help: 'server URL (default: http://127.0.0.1:8080)' },
    token: {
      value: 'TOKEN',
      help: `registration token or runner token (glrt-…), needed once; or set ${TOKEN_VARIABLE}`,
    },
    ...executorFlags,
    concurrent: { value: 'N', help: 'number of concurrent jobs (default: 1)' },
    tags: { value: 'TAGS', help: 'comma-separated; a runner with tags does not run untagged jobs' },
    untagged: { help: 'also run untagged jobs' },
    description: { value: 'TEXT', help: 'name of the runner on the server' },
    'output-limit': { value: 'KB', help: `maximum log size of a job (default: ${DEFAULT_LOG_KB})` },
    grace: {
      value: 'SECONDS',
      help: `time for running jobs to finish on shutdown (default: ${DEFAULT_GRACE_S})`,
    },
    unregister: { help: 'unregister this runner and exit' },
  },
  async run(call) {
    const folder = join(call.config.data, 'runner')
    const { startAgent, unregisterAgent } = await import('../ci/agent/agent.ts')
    if (call.switches.unregister) {
      const isGone = await unregisterAgent({ folder }).catch(cannotStart)
      console.log(isGone ? 'unregistered' : 'was not registered')
      return
    }
    const graceMs = numberOf(call, 'grace', { least: 0, most: 86_400, otherwise: DEFAULT_GRACE_S }) * 1000
    const url = call.flags.server ?? 'http://127.0.0.1:8080'
    if (!/^https?:\/\//.test(url) || !URL.canParse(url))
      throw new Misuse('--server must look like http://127.0.0.1:8080')
    const token = call.flags.token ?? process.env[TOKEN_VARIABLE]
    const tags = (call.flags.tags ?? '').split(',').flatMap((tag) => tag.trim() || [])
    const agent = await startAgent({
      url,
      ...(token ? { token } : {}),
      folder,
      log: await openLog(call.config.log),
      environment: process.env,
      executor: await executorOf(call),
      concurrent: numberOf(call, 'concurrent', { least: 1, most: MOST_AT_A_TIME, otherwise: 1 }),
      logLimit: numberOf(call, 'output-limit', { least: 1, most: 1_000_000, otherwise: DEFAULT_LOG_KB }) * 1024,
      registration: {
        description: call.flags.description ?? 'mortise runner',
        tags,
        runUntagged: tags.length === 0 || Boolean(call.switches.untagged),
      },
    }).catch(cannotStart)
    // Before the start is announced. A forced exit must not leave a job running.
    const stop = stopRequested(['SIGTERM', 'SIGINT', 'SIGQUIT'], graceMs + 30_000)
    process.once('exit', () => agent.kill())
    console.log(`Runner ${agent.runnerId} is waiting for jobs from ${url}`)
    await stop
    await agent.stop({ graceMs })
  },
}

/** The error message of the server, or why it cannot be reached. */
function cannotStart(error: unknown): never {
  throw new CannotStart((error as Error).message, { cause: error })
}
