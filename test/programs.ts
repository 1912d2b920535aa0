/** Programs that tests run, started through the launcher: a test process is large, and starts thousands. */
import { text } from 'node:stream/consumers'
import { launch } from '../src/git/process/launcher.ts'

export interface Run {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export async function runProgram(
  words: readonly [string, ...string[]],
  { cwd, env, input }: { cwd: string; env: NodeJS.ProcessEnv; input?: Uint8Array | undefined },
): Promise<Run> {
  const program = launch(words, { cwd, env, hasInput: input !== undefined })
  program.stdin?.on('error', () => {})
  program.stdin?.end(input)
  const ended = new Promise<number>((resolve, reject) => {
    program.once('error', reject)
    program.once('close', (code) => resolve(code ?? -1))
  })
  const [stdout, stderr, code] = await Promise.all([text(program.stdout), text(program.stderr), ended])
  return { code, stdout, stderr }
}
