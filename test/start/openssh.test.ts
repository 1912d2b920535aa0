import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseSshPublicKey } from '../../src/lib/crypto/ssh-key.ts'
import { sshKey } from '../samples.ts'
import { workspace } from '../workspace.ts'
import { Child, run, temporaryFolder } from './command.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'

test(
  'OpenSSH can serve git by asking the command: whose key, and the git command itself',
  { timeout: 120_000 },
  async () => {
    await using folder = await temporaryFolder()
    await using work = await workspace()
    const settings = {
      MORTISE_DATA: folder.path,
      MORTISE_PORT: '0',
      MORTISE_SSH_PORT: 'off',
      MORTISE_LOG: 'warn',
      MORTISE_ROOT_TOKEN,
    }
    await using child = new Child(['serve'], settings)
    const url = await child.url()
    const post = (path: string, body: object) =>
      fetch(`${url}/api/v4${path}`, {
        method: 'POST',
        headers: { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
    const key = sshKey()
    expect((await post('/user/keys', { title: 'laptop', key })).status).toBe(201)
    expect((await post('/projects', { path: 'engine' })).status).toBe(201)
    const fingerprint = parseSshPublicKey(key)!.sha256

    const { stdout: line, code } = await run(['ssh', 'keys', fingerprint], settings)
    expect(code).toBe(0)
    expect(line).toMatch(/^command="[^\n]+ ssh serve SHA256:\S+",restrict ssh-\S+ \S+\n$/)
    expect(line).toContain(key.split(' ')[1])
    for (const unknown of [`SHA256:${'A'.repeat(43)}`, 'nonsense']) {
      expect(await run(['ssh', 'keys', unknown], settings)).toMatchObject({ code: 0, stdout: '' })
    }

    // Runs the line as sshd would.
    const [, command] = /^command="(.+)",restrict /.exec(line)!
    const script = join(work.folder, 'ssh')
    await writeFile(
      script,
      `#!/bin/bash\nSSH_ORIGINAL_COMMAND="\${@: -1}" exec bash -c "$(cat <<'END'\n${command!.replaceAll('\\"', '"')}\nEND\n)"\n`,
    )
    await chmod(script, 0o755)
    const { git } = work
    const over = ['-c', `core.sshCommand=${script}`, '-c', 'ssh.variant=simple']
    await git('init', '-q', '-b', 'master', 'src')
    await git('-C', 'src', 'commit', '-qm', 'First', '--allow-empty')
    const pushed = await git(...over, '-C', 'src', 'push', 'git@forge:root/engine.git', 'master')
    expect(pushed).toMatchObject({ code: 0, stderr: expect.stringContaining('[new branch]') })
    expect((await git(...over, 'clone', '-q', 'git@forge:root/engine.git', 'copy')).code).toBe(0)
    const refused = await git(...over, 'clone', '-q', 'git@forge:root/nothing.git', 'none')
    expect(refused.stderr).toContain('Mortise: The project you were looking for could not be found')
  },
)
