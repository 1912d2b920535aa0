/** Git over SSH as users have it: the OpenSSH client and git, with a URL as the API returns it. */
import { spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { TestForge } from '../../src/forge.ts'
import { fillProject } from '../contents.ts'
import { addKey, newKey, sshPortOf as portOf, startSshForge } from '../ssh.ts'
import { workspace } from '../workspace.ts'

interface Message {
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

/** A user's machine with their key, and the URL of the project. */
async function openSsh(key: { private: string }) {
  const place = await workspace()
  await mkdir(join(place.folder, '.ssh'), { mode: 0o700 })
  const file = join(place.folder, '.ssh', 'id')
  await writeFile(file, key.private, { mode: 0o600 })
  const options = ['UserKnownHostsFile=/dev/null', 'StrictHostKeyChecking=no', 'IdentitiesOnly=yes', 'BatchMode=yes']
  const args = ['-F', '/dev/null', '-i', file, '-o', 'LogLevel=ERROR', ...options.flatMap((option) => ['-o', option])]
  const command = ['ssh', ...args].join(' ')
  return {
    ...place,
    git: (...rest: string[]) => place.git('-c', `core.sshCommand=${command}`, ...rest),
    async ssh(forge: TestForge, ...rest: string[]): Promise<Message> {
      const child = spawn('ssh', [...args, '-p', String(portOf(forge)), 'git@127.0.0.1', ...rest])
      child.stdin.end()
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
      const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
      return { code, output, errors }
    },
  }
}

test('plain ssh is greeted, anything else is not done', async () => {
  await using forge = await startSshForge()
  const ada = await forge.user({ name: 'Ada' })
  for (const kind of ['ed25519', 'rsa'] as const) {
    const key = await newKey(kind)
    await addKey(ada, key)
    await using machine = await openSsh(key)
    expect(await machine.ssh(forge)).toMatchObject({ code: 0, output: 'Welcome to Mortise, Ada!\n' })
    expect(await machine.ssh(forge, 'id')).toEqual({ code: 1, output: '', errors: 'Mortise: Disallowed command\n' })
    expect((await machine.ssh(forge, '-N', '-o', 'ExitOnForwardFailure=yes', '-R', '0:127.0.0.1:1')).code).not.toBe(0)
  }
  await using stranger = await openSsh(await newKey())
  const { code, errors } = await stranger.ssh(forge)
  expect([code, errors]).toEqual([255, expect.stringContaining('Permission denied (publickey).')])
})

test('a push to the old path of a project prints the new address of the same protocol', async () => {
  await using forge = await startSshForge()
  const ada = await forge.user({ username: 'ada' })
  const key = await newKey()
  await addKey(ada, key)
  await using machine = await openSsh(key)
  const { id, ssh_url_to_repo: bySsh } = await forge.project({ path: 'tower', name: 'Tower' }, ada)
  await machine.git('init', '-q', 'work')
  await machine.git('-C', 'work', 'commit', '-q', '--allow-empty', '-m', 'One')
  const moved = (await ada.put(`/projects/${id}`, { name: 'Tower', path: 'keep' })).body
  const byHttp = `${forge.url.replace('://', `://ada:${ada.token}@`)}/ada/tower.git`
  for (const [from, to] of [
    [bySsh, moved.ssh_url_to_repo],
    [byHttp, moved.http_url_to_repo],
  ]) {
    const { code, stderr } = await machine.git('-C', 'work', 'push', from, `HEAD:b${from.length}`)
    expect([code, stderr]).toEqual([0, expect.stringContaining(`git remote set-url origin ${to}`)])
  }
})

test('clone, push, fetch and archive by the address the project prints', async () => {
  await using forge = await startSshForge()
  const ada = await forge.user({ username: 'ada' })
  const key = await newKey()
  await addKey(ada, key)
  await using machine = await openSsh(key)
  const project = await forge.project({ path: 'tower' }, ada)
  const address = project.ssh_url_to_repo
  expect(address).toBe(`ssh://git@127.0.0.1:${portOf(forge)}/ada/tower.git`)

  expect(await machine.git('clone', address, 'first')).toMatchObject({ code: 0 })
  const work = ['-C', 'first']
  await writeFile(join(machine.folder, 'first', 'a.txt'), 'a\n')
  await machine.git(...work, 'add', '.')
  await machine.git(...work, 'commit', '-m', 'first')
  expect(await machine.git(...work, 'push', 'origin', 'HEAD:master')).toMatchObject({ code: 0 })
  const pushed = await machine.git(...work, 'push', 'origin', 'HEAD:topic')
  expect(pushed.stderr).toContain('remote: To create a merge request for topic, visit:')
  const fresh = (await ada.get(`/projects/${project.id}`)).body
  expect([fresh.default_branch, fresh.empty_repo]).toEqual(['master', false])
  expect(await forge.events()).toContain('repository.changed')

  for (const version of ['0', '1', '2']) {
    const name = `clone${version}`
    const cloned = await machine.git('-c', `protocol.version=${version}`, 'clone', address, name)
    expect([version, cloned.code]).toEqual([version, 0])
    expect(await readFile(join(machine.folder, name, 'a.txt'), 'utf8')).toBe('a\n')
  }
  const listed = await machine.git('ls-remote', `ssh://git@127.0.0.1:${portOf(forge)}/ada/tower`)
  expect(listed.stdout).toContain('refs/heads/topic')
  const archived = await machine.git('archive', `--remote=${address}`, '--output=x.tar', 'master')
  expect(archived.code).toBe(0)
  expect((await readFile(join(machine.folder, 'x.tar'))).includes('a.txt')).toBe(true)
})

test('much content, both ways', async () => {
  await using forge = await startSshForge()
  const ada = await forge.user({ username: 'ada' })
  const key = await newKey()
  await addKey(ada, key)
  await using machine = await openSsh(key)
  const project = await forge.project({ path: 'tower' }, ada)
  await machine.git('clone', project.ssh_url_to_repo, 'first')
  // Larger than any window or buffer on the way.
  const content = Buffer.from(Array.from({ length: 12_000_000 }, (_, n) => (n * n * 2654435761) >>> 13))
  await writeFile(join(machine.folder, 'first', 'large'), content)
  await machine.git('-C', 'first', 'add', '.')
  await machine.git('-C', 'first', 'commit', '-m', 'large')
  expect(await machine.git('-C', 'first', 'push', 'origin', 'HEAD:master')).toMatchObject({ code: 0 })
  expect(await machine.git('clone', project.ssh_url_to_repo, 'second')).toMatchObject({ code: 0 })
  expect((await readFile(join(machine.folder, 'second', 'large'))).equals(content)).toBe(true)
})

test('a refusal is told in words, and moves nothing', async () => {
  await using forge = await startSshForge()
  const ada = await forge.user({ username: 'ada' })
  const bob = await forge.user({ username: 'bob' })
  const [hers, his, reader, writer] = [await newKey(), await newKey(), await newKey(), await newKey()]
  await addKey(ada, hers)
  await addKey(bob, his)
  const project = await forge.project({ path: 'tower' }, ada)
  const address = project.ssh_url_to_repo
  await fillProject(forge, project.id)
  await ada.post(`/projects/${project.id}/deploy_keys`, { title: 'reader', key: reader.public })
  await ada.post(`/projects/${project.id}/deploy_keys`, { title: 'writer', key: writer.public, can_push: true })
  const attempt = async (key: { private: string }, branch: string) => {
    await using machine = await openSsh(key)
    const cloned = await machine.git('clone', address, 'work')
    if (cloned.code !== 0) return cloned
    await machine.git('-C', 'work', 'commit', '--allow-empty', '-m', 'more')
    return await machine.git('-C', 'work', 'push', 'origin', `HEAD:${branch}`)
  }
  const events = await forge.events()
  const unseen = await attempt(his, 'x')
  expect([unseen.code, unseen.stderr]).toEqual([128, expect.stringContaining('Mortise: The project you were')])
  const readOnly = await attempt(reader, 'x')
  const words = 'Mortise: This deploy key does not have write access to this project.'
  expect([readOnly.code, readOnly.stderr]).toEqual([128, expect.stringContaining(words)])

  await ada.post(`/projects/${project.id}/members`, { user_id: bob.id, access_level: 30 })
  await ada.post(`/projects/${project.id}/protected_branches`, { name: 'stable', push_access_level: 40 })
  const refused = await attempt(his, 'stable')
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(/remote: Mortise: You are not allowed to .* protected branch/)
  expect(refused.stderr).toContain('! [remote rejected] HEAD -> stable (pre-receive hook declined)')
  expect((await forge.events()).filter((name) => name === 'repository.changed')).toEqual([])
  expect((await forge.events()).slice(0, events.length)).toEqual(events)

  expect((await attempt(writer, 'by-robot')).code).toBe(0)
  expect((await attempt(his, 'by-bob')).code).toBe(0)
  await ada.post(`/projects/${project.id}/archive`)
  const late = await attempt(his, 'late')
  expect([late.code, late.stderr]).toEqual([
    128,
    expect.stringContaining("You can't push code to an archived project."),
  ])
})

test('many at once: each to a branch of their own, and all to the same one', async () => {
  await using forge = await startSshForge()
  const ada = await forge.user({ username: 'ada' })
  const key = await newKey()
  await addKey(ada, key)
  await using machine = await openSsh(key)
  const project = await forge.project({ path: 'tower' }, ada)
  await fillProject(forge, project.id)
  const names = Array.from({ length: 20 }, (_, n) => `work${n}`)
  await machine.git('clone', project.ssh_url_to_repo, 'first')
  for (const name of names) {
    await machine.git('clone', '--local', 'first', name)
    await machine.git('-C', name, 'commit', '--allow-empty', '-m', name)
  }
  const push = (branch: (name: string) => string) =>
    Promise.all(names.map((name) => machine.git('-C', name, 'push', project.ssh_url_to_repo, `HEAD:${branch(name)}`)))
  expect((await push((name) => name)).map(({ code }) => code)).toEqual(names.map(() => 0))
  const codes = (await push(() => 'prize')).map(({ code }) => code)
  expect(codes.filter((code) => code === 0)).toEqual([0])
  const listed = await machine.git('ls-remote', '--heads', project.ssh_url_to_repo)
  expect(listed.stdout.split('\n')).toHaveLength(22)
})

test('a deploy key creates no merge requests: it does not act as its creator', async () => {
  await using forge = await startSshForge()
  const ada = await forge.user({ username: 'ada' })
  const project = await forge.project({ path: 'engine' }, ada)
  await forge.seed(project, { 'a.txt': 'one\n' }, { as: ada })
  const key = await newKey()
  const input = { title: 'ci', key: key.public, can_push: true }
  expect((await ada.post(`/projects/${project.id}/deploy_keys`, input)).status).toBe(201)
  const before = (await ada.get(`/projects/${project.id}/repository/branches/master`)).body.commit.id
  await using machine = await openSsh(key)
  const address = `ssh://git@127.0.0.1:${portOf(forge)}/ada/engine.git`
  expect((await machine.git('clone', '-q', address, 'engine')).code).toBe(0)
  await machine.git('-C', 'engine', 'commit', '-qm', 'Slip in', '--allow-empty')
  const options = ['create', 'merge_when_pipeline_succeeds'].flatMap((name) => ['-o', `merge_request.${name}`])
  expect((await machine.git('-C', 'engine', 'push', '-q', ...options, address, 'HEAD:refs/heads/topic')).code).toBe(0)
  await forge.settle()
  expect((await ada.get(`/projects/${project.id}/merge_requests/1`)).status).toBe(404)
  expect((await ada.get(`/projects/${project.id}/repository/branches/master`)).body.commit.id).toBe(before)
})
