/** One of everything, so that any declared endpoint has an address that leads somewhere. */
import type { Endpoint } from '../src/api/endpoint.ts'
import type { TestForge } from '../src/forge.ts'
import { fillProject } from './contents.ts'
import { runGit } from './git-origin.ts'
import { sshKey } from './samples.ts'

/** The value of each path parameter, by the beginning of the path it stands in; `''` is everywhere else. */
type Places = Record<'/groups' | '/projects' | '', Record<string, string | number>>

export interface World {
  readonly places: Places
  readonly users: number
}

const WITH_SUBMODULE = `commit refs/heads/modules
committer Ada <ada@example.com> 1700000000 +0000
data 1
x
from refs/heads/master^0
M 160000 ${'1'.repeat(40)} lib
`

export async function makeWorld(forge: TestForge): Promise<World> {
  const root = forge.administrator
  const people = [await forge.user(), await forge.user(), await forge.user()]
  const [user, member, other] = people.map(({ id }) => id)
  const message = (await root.post('/broadcast_messages', { message: 'x' })).body
  const group = (await root.post('/groups', { name: 'World', path: 'world', request_access_enabled: true })).body
  const friends = (await root.post('/groups', { name: 'Friends', path: 'friends' })).body
  const project = (await root.post('/projects', { name: 'globe', namespace_id: group.id })).body
  const source = (await root.post('/projects', { name: 'source' })).body
  const dir = await fillProject(forge, project.id)
  await runGit([`--git-dir=${dir}`, 'fast-import', '--quiet'], Buffer.from(WITH_SUBMODULE))
  // Where the file all addresses lead to can be made anew.
  await root.post(`/projects/${project.id}/repository/commits`, {
    branch: 'bare',
    start_branch: 'master',
    commit_message: 'x',
    actions: [{ action: 'delete', file_path: 'README.md' }],
  })
  await root.post(`/projects/${project.id}/share`, { group_id: friends.id, group_access: 10 })
  const hook = (await root.post(`/projects/${project.id}/hooks`, { url: 'https://hooks.example.org' })).body
  await root.post(`/projects/${project.id}/push_rule`, { member_check: true })
  const name = 'stable'
  for (const kind of ['protected_branches', 'protected_tags'])
    await root.post(`/projects/${project.id}/${kind}`, { name })
  const key = (await root.post(`/projects/${project.id}/deploy_keys`, { title: 'robot', key: sshKey() })).body
  const tokenOf = async (source: string) =>
    (await root.post(`${source}/deploy_tokens`, { name: 'robot', scopes: ['read_repository'] })).body.id
  const branch = 'topic'
  await root.post(`/projects/${project.id}/repository/branches`, { branch, ref: 'master' })
  const links = [{ name: 'x', url: 'https://files.example.org' }]
  const wish = { tag_name: 'v1', ref: 'master', assets: { links } }
  const release = (await root.post(`/projects/${project.id}/releases`, wish)).body
  const form = new FormData()
  form.set('file', new File(['words'], 'notes.txt'))
  const upload = (await root.post(`/projects/${project.id}/uploads`, form)).body
  const [, secret, filename] = /\/uploads\/(\w+)\/(.+)$/.exec(upload.url)!
  await root.post(`/projects/${project.id}/wikis`, { title: 'home', content: 'x' })
  const email = 'invited@example.org'
  for (const source of [`/groups/${group.id}`, `/projects/${project.id}`]) {
    await root.post(`${source}/members`, { user_id: member, access_level: 10 })
    await root.post(`${source}/invitations`, { email, access_level: 10 })
  }
  const link = { cn: 'engineers', provider: 'ldapmain' }
  await root.post(`/groups/${group.id}/ldap_group_links`, { ...link, group_access: 10 })
  // Repositories are measured some seconds after they change.
  forge.clock.advance(10_000)
  await forge.settle()
  return {
    users: 1 + people.length,
    places: {
      '/groups': {
        id: group.id,
        user_id: member!,
        project_id: source.id,
        email,
        token_id: await tokenOf(`/groups/${group.id}`),
        ...link,
      },
      '/projects': {
        id: project.id,
        user_id: member!,
        group_id: friends.id,
        hook_id: hook.id,
        forked_from_id: source.id,
        upload_id: 1,
        slug: 'home',
        secret: secret!,
        filename: filename!,
        email,
        branch,
        tag_name: release.tag_name,
        link_id: release.assets.links[0].id,
        sha: 'master',
        file_path: 'README.md',
        submodule: 'lib',
        format: 'zip',
        type: 'gitignores',
        name,
        key_id: key.id,
        token_id: await tokenOf(`/projects/${project.id}`),
      },
      '': { id: message.id + 1, user_id: user!, name: 'x', path: 'world', key: 'mit', impersonation_token_id: other! },
    },
  }
}

/** Where an endpoint is in this world; or, with a text, the same place with the text for every parameter. */
export function addressOf({ path }: Endpoint, world: World | string): string {
  return path.replace(/:(\w+)(\([^)]+\))?/g, (_, name: string) => {
    if (typeof world === 'string') return encodeURIComponent(world)
    const root = /^\/(groups|projects)\b/.exec(path)?.[0] as '/groups' | '/projects' | undefined
    const value = world.places[root ?? ''][name] ?? world.places[''].id!
    return encodeURIComponent(String(value))
  })
}
