import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { workplace } from '../workplace.ts'
import { Child, temporaryFolder } from './command.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
const ROUNDS = 4

test(
  'kill -9 in the middle of pushes leaves sound repositories and a database that agrees',
  { timeout: 240_000 },
  async () => {
    await using folder = await temporaryFolder()
    await using work = await workplace()
    const settings = {
      MORTISE_DATA: folder.path,
      MORTISE_PORT: '0',
      MORTISE_SSH_PORT: 'off',
      MORTISE_LOG: 'warn',
      MORTISE_ROOT_TOKEN,
    }
    const { git } = work
    await git('init', '-q', '-b', 'trunk', 'src')
    const acknowledged = new Map<string, string>()
    let lost = 0
    for (let round = 0; round < ROUNDS; round++) {
      await using child = new Child(['serve'], settings)
      const url = await child.url()
      const project = `round${round}`
      await fetch(`${url}/api/v4/projects`, {
        method: 'POST',
        headers: { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN, 'Content-Type': 'application/json' },
        body: JSON.stringify({ path: project }),
      })
      const address = url.replace('://', `://root:${MORTISE_ROOT_TOKEN}@`) + `/root/${project}.git`
      const pushing = (async () => {
        for (let n = 0; ; n++) {
          await writeFile(join(work.folder, 'src', `file${n % 7}`), `${project} ${n} ${'x'.repeat(50_000 * (n % 3))}`)
          await git('-C', 'src', 'add', '-A')
          await git('-C', 'src', 'commit', '-qm', `Work ${round} ${n}`)
          const tip = (await git('-C', 'src', 'rev-parse', 'HEAD')).stdout
          const { code } = await git('-C', 'src', 'push', '-q', address, `HEAD:refs/heads/trunk`)
          if (code !== 0) return void lost++
          acknowledged.set(`/root/${project}.git`, tip)
        }
      })()
      // The first round hits a first push, later ones whatever goes on.
      await sleep(round === 0 ? 60 : 200 + 150 * round)
      child.process.kill('SIGKILL')
      await pushing
    }
    expect(lost).toBe(ROUNDS)

    await using child = new Child(['serve'], settings)
    const url = await child.url()
    for (const [path, tip] of acknowledged) {
      const { stdout } = await git(
        'ls-remote',
        url.replace('://', `://root:${MORTISE_ROOT_TOKEN}@`) + path,
        'refs/heads/trunk',
      )
      const found = stdout.slice(0, 40)
      // What was not acknowledged may have come in all the same.
      const { code } = await git('-C', 'src', 'merge-base', '--is-ancestor', tip, found)
      expect([path, code]).toEqual([path, 0])
    }
    // The job that was promised before the refs moved puts the rows right.
    await expect
      .poll(async () => checked(settings), { timeout: 60_000, interval: 1000 })
      .toMatch(/^\d+ repositories checked, 0 with faults$/m)
  },
)

async function checked(settings: Record<`MORTISE_${string}`, string>): Promise<string> {
  await using child = new Child(['check'], settings)
  await child.ended()
  return child.stdout
}
