/** A runner inside the server process: created at the start, and deleted at the stop. */
import { startAgent, type Agent } from '../../../ci/agent/agent.ts'
import type { App } from '../../../context.ts'
import { MADE_PREFIX, createRunner, deleteRunner } from './service.ts'

export interface EmbeddedRunnerOptions {
  readonly folder: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly concurrent?: number | undefined
  readonly tags?: readonly string[] | undefined
  readonly description?: string | undefined
  readonly pace?: { readonly poll?: number; readonly update?: number }
}

export interface EmbeddedRunner {
  readonly id: number
  stop(graceMs?: number): Promise<void>
  kill(): void
}

/** Jobs run in the shell, as the user of the server process. */
export async function startEmbeddedRunner(app: App, input: EmbeddedRunnerOptions): Promise<EmbeddedRunner> {
  const { folder, environment, concurrent = 1, tags = [], description = 'mortise', pace = {} } = input
  const about = { description, tag_list: tags, run_untagged: true }
  const { runner, token } = await createRunner(app, { runner_type: 'instance_type' }, about, { prefix: MADE_PREFIX })
  const options = { url: app.url, token, folder, log: app.log, environment, concurrent, pace }
  const agent: Agent = await startAgent(options).catch(async (error: unknown) => {
    await deleteRunner(app, runner)
    throw error
  })
  return {
    id: runner.id,
    kill: agent.kill,
    async stop(graceMs) {
      await agent.stop(graceMs === undefined ? {} : { graceMs })
      await deleteRunner(app, runner)
    },
  }
}
