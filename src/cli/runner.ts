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
  summary: 'Run CI jobs of a server: in the shell, as the user that runs this, or in containers',
  flags: {
    server: { value: 'URL', help: 'whose jobs; http://127.0.0.1:8080 unless told' },
    token: { value: 'TOKEN', help: `for registration, or one beginning glrt-; once, or by ${TOKEN_VARIABLE}` },
    ...executorFlags,
    concurrent: { value: 'N', help: 'jobs at a time; 1 unless told' },
    tags: { value: 'TAGS', help: 'by comma; with tags, untagged jobs are left to others' },
    untagged: { help: 'take untagged jobs although there are tags' },
    description: { value: 'TEXT', help: 'how it is called on the server' },
    'output-limit': { value: 'KB', help: `of a job's log; ${DEFAULT_LOG_KB} unless told` },
    grace: {
      value: 'SECONDS',
      help: `how long running jobs may take when it is stopped; ${DEFAULT_GRACE_S} unless told`,
    },
    unregister: { help: 'let the server forget this runner, and do no more' },
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
    console.log(`Runner ${agent.runnerId} waits for jobs of ${url}`)
    await stop
    await agent.stop({ graceMs })
  },
}

/** The error message of the server, or why it cannot be reached. */
function cannotStart(error: unknown): never {
  throw new CannotStart((error as Error).message, { cause: error })
}
