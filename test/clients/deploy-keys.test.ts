/** Deploy keys and the push checks: git over SSH, by machines without an account. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fillProject } from '../contents.ts'
import { LfsClient, authorizationOf } from '../lfs.ts'
import { newKey, startSshForge, type KeyPair } from '../ssh.ts'
import { workspace } from '../workspace.ts'

/** A machine with the key and a clone. */
async function machineWith(key: KeyPair, address: string) {
  const place = await workspace()
  await mkdir(join(place.folder, '.ssh'), { mode: 0o700 })
  const file = join(place.folder, '.ssh', 'id')
  await writeFile(file, key.private, { mode: 0o600 })
  const options = ['UserKnownHostsFile=/dev/null', 'StrictHostKeyChecking=no', 'IdentitiesOnly=yes', 'LogLevel=ERROR']
  const ssh = ['ssh', '-F', '/dev/null', '-i', file, ...options.flatMap((option) => ['-o', option])].join(' ')
  const git = (...args: string[]) => place.git('-c', `core.sshCommand=${ssh}`, ...args)
  await git('clone', '-q', address, 'work')
  await git('-C', 'work', 'checkout', '-q', '-B', 'work')
  return {
    ...place,
    commit: async (files: Record<string, string> = {}) => {
      for (const [name, content] of Object.entries(files)) await writeFile(join(place.folder, 'work', name), content)
      await git('-C', 'work', 'add', '-A')
      return git('-C', 'work', 'commit', '-q', '--allow-empty', '-m', 'By a robot')
    },
    tag: (name: string) => git('-C', 'work', 'tag', '-f', name),
    push: (...refs: string[]) => git('-C', 'work', 'push', 'origin', ...refs),
  }
}

test('a key writes what is open to it, and what is protected only where a rule names it', async () => {
  await using forge = await startSshForge()
  const ada = await forge.user({ username: 'ada' })
  const project = await forge.project({ path: 'tower' }, ada)
  const url = `/projects/${project.id}`
  await fillProject(forge, project.id)
  const [named, other] = [await newKey(), await newKey()]
  const enable = async (title: string, key: KeyPair, can_push = true) =>
    (await ada.post(`${url}/deploy_keys`, { title, key: key.public, can_push })).body.id as number
  const deploy_key_id = await enable('named', named)
  await enable('other', other)
  await using robot = await machineWith(named, project.ssh_url_to_repo)
  await using stranger = await machineWith(other, project.ssh_url_to_repo)

  const nobody = { access_level: 0 }
  const rule = { name: 'stable', allowed_to_push: [{ deploy_key_id }, nobody] }
  expect((await ada.post(`${url}/protected_branches`, rule)).body.push_access_levels).toMatchObject([
    { deploy_key_id, access_level: null, access_level_description: 'named' },
    { deploy_key_id: null, access_level: 0 },
  ])
  await ada.post(`${url}/protected_branches`, { name: 'closed' })
  await ada.post(`${url}/protected_tags`, { name: 'v*', allowed_to_create: [{ deploy_key_id }] })
  // Push rules apply to commits of users only.
  await ada.post(`${url}/push_rule`, { commit_message_regex: '^never', deny_delete_tag: true })
  await new LfsClient(forge, 'ada/tower', authorizationOf(ada)).post('info/lfs/locks', { path: 'locked' })

  await robot.commit()
  await stranger.commit()
  await robot.tag('v1')
  await stranger.tag('v2')
  await stranger.tag('free')
  const NO_PUSH = 'You are not allowed to push code to protected branches on this project.'
  const refused: [typeof robot, string, string][] = [
    [stranger, 'HEAD:stable', NO_PUSH],
    [robot, 'HEAD:closed', NO_PUSH],
    [stranger, 'v2', 'You are not allowed to create this tag as it is protected.'],
  ]
  const events = await forge.events()
  for (const [who, ref, message] of refused)
    expect((await who.push(ref)).stderr).toContain(`remote: Mortise: ${message}`)
  expect(await forge.events()).toEqual(events)
  expect((await ada.get(`${url}/repository/branches`)).body).toMatchObject([{ name: 'master' }])

  expect(await stranger.push('HEAD:open', 'free')).toMatchObject({ code: 0 })
  expect(await robot.push('HEAD:stable', 'v1')).toMatchObject({ code: 0 })
  const late: [typeof robot, string, string][] = [
    [robot, ':stable', 'You are not allowed to delete protected branches from this project.'],
    [robot, ':v1', 'Protected tags cannot be deleted.'],
    [robot, '+HEAD~:refs/heads/stable', 'You are not allowed to force push code to a protected branch'],
  ]
  for (const [who, ref, message] of late) expect((await who.push(ref)).stderr).toContain(`remote: Mortise: ${message}`)
  // A key has no role that a protected tag could require.
  await stranger.commit()
  await stranger.tag('free')
  expect(await stranger.push('+free')).toMatchObject({ code: 0 })

  await stranger.commit({ locked: 'by nobody' })
  expect((await stranger.push('HEAD:open')).stderr).toContain("'locked' is locked in Git LFS by @ada")

  // A disabled key is removed from all rules too.
  await ada.delete(`${url}/deploy_keys/${deploy_key_id}`)
  expect((await ada.get(`${url}/protected_branches/stable`)).body.push_access_levels).toMatchObject([
    { access_level: 0 },
  ])
})
