/** Drives a running Mortise with gitbeaker: groups, projects, members and their records. */
import { Gitlab } from '@gitbeaker/rest'
import { expect } from 'vitest'
import { until } from '../start/command.ts'

type Api = Gitlab<false>
type Kind = 'Project' | 'Group'

export interface World {
  readonly api: Api
  readonly url: string
  /** Two other users: their ids, and their API clients. */
  readonly jane: Person
  readonly john: Person
  readonly picture: { content: Blob; filename: string }
}

interface Person {
  readonly id: number
  readonly api: Api
}

export async function openWorld(url: string, token: string, png: Uint8Array): Promise<World> {
  // By default the client limits itself to five archives a minute and waits.
  const open = (token: string): Api => new Gitlab({ host: url, token, rateLimits: { '**': 3000 } })
  const api = open(token)
  const person = async (username: string): Promise<Person> => {
    const email = `${username}@example.com`
    const given = { username, name: username, email, password: 'correct horse', skipConfirmation: true }
    const { id } = await api.Users.create(given)
    const key = await api.UserImpersonationTokens.create(id, 'tests', ['api'], { expiresAt: '2999-01-01' })
    return { id, api: open(key.token!) }
  }
  const picture = { content: new Blob([Uint8Array.from(png)], { type: 'image/png' }), filename: 'avatar.png' }
  return { api, url, jane: await person('gb-jane'), john: await person('gb-john'), picture }
}

const pathsOf = (things: { path: string }[]) => things.map(({ path }) => path)

/** The client puts the server's message into the cause of its error. */
export const refusal = (status: number, description: string) => ({
  cause: { description: expect.stringContaining(description), response: expect.objectContaining({ status }) },
})

export async function makeGroups({ api, url, picture }: World) {
  const attributes = { visibility: 'public', description: 'tools' } as const
  const shop = await api.Groups.create('Gb Shop', 'gb-shop', { ...attributes, avatar: picture })
  expect(shop).toMatchObject({ full_path: 'gb-shop', parent_id: null, ...attributes })
  expect(shop.avatar_url).toBe(`${url}/uploads/-/system/group/avatar/${shop.id}/avatar.png`)
  await api.Groups.removeAvatar(shop.id)
  expect(await api.Groups.show('gb-shop')).toMatchObject({ id: shop.id, avatar_url: null })
  const bench = await api.Groups.create('Bench', 'bench', { parentId: shop.id })
  const vice = await api.Groups.create('Vice', 'vice', { parentId: bench.id })
  expect(vice).toMatchObject({ full_path: 'gb-shop/bench/vice', full_name: 'Gb Shop / Bench / Vice' })
  expect((await api.Groups.show('gb-shop/bench/vice')).id).toBe(vice.id)

  expect(pathsOf(await api.Groups.all({ perPage: 1 }))).toEqual(['bench', 'gb-shop', 'vice'])
  expect(pathsOf(await api.Groups.search('ENC', {}))).toEqual(['bench'])
  expect(pathsOf(await api.Groups.all({ orderBy: 'path', sort: 'desc' }))).toEqual(['vice', 'gb-shop', 'bench'])
  expect(pathsOf(await api.Groups.all({ skipGroups: [shop.id, bench.id] }))).toEqual(['vice'])
  expect(pathsOf(await api.Groups.allSubgroups(shop.id))).toEqual(['bench'])
  expect(pathsOf(await api.Groups.allDescendantGroups(shop.id, {}))).toEqual(['bench', 'vice'])

  const input = { name: 'Gb Shed', path: 'gb-shed', description: 'wood' }
  await api.Groups.edit(shop.id, { ...input, requestAccessEnabled: true })
  expect(await api.Groups.show(shop.id)).toMatchObject({ ...input, request_access_enabled: true })
  expect((await api.Groups.show(vice.id)).full_path).toBe('gb-shed/bench/vice')
  await expect(api.Groups.create('Other', 'gb-shed')).rejects.toMatchObject(refusal(400, 'has already been taken'))
  await api.Groups.remove(vice.id)
  await expect(api.Groups.show(vice.id)).rejects.toMatchObject(refusal(404, '404 Group Not Found'))
  return shop.id
}

export async function changeMembers({ api, jane }: World, kind: Kind, id: number): Promise<void> {
  const members = api[`${kind}Members`]
  const levels = async (input: { includeInherited?: boolean; query?: string } = {}) =>
    Object.fromEntries((await members.all(id, input)).map((one) => [one.username, one.access_level]))
  expect(await members.add(id, 30, { userId: jane.id })).toMatchObject({ id: jane.id, access_level: 30 })
  await members.edit(id, jane.id, 40, { expiresAt: '2999-12-31' })
  expect(await members.show(id, jane.id)).toMatchObject({ access_level: 40, expires_at: '2999-12-31' })
  expect(await members.show(id, jane.id, { includeInherited: true })).toMatchObject({ access_level: 40 })
  expect(await levels({ query: 'jane' })).toEqual({ 'gb-jane': 40 })
  expect(await levels({ includeInherited: true })).toEqual({ 'gb-jane': 40, root: 50 })
  await expect(members.add(id, 10, { userId: jane.id })).rejects.toMatchObject(refusal(409, 'Member already exists'))
  await members.remove(id, jane.id)
  await expect(members.show(id, jane.id)).rejects.toMatchObject(refusal(404, '404 Not found'))
}

export async function requestAccess({ api, jane, john }: World, kind: Kind, id: number): Promise<void> {
  const requests = api[`${kind}AccessRequests`]
  for (const person of [jane, john]) await person.api[`${kind}AccessRequests`].request(id)
  expect((await requests.all(id)).map(({ username }) => username).toSorted()).toEqual(['gb-jane', 'gb-john'])
  await requests.approve(id, jane.id, { accessLevel: 20 })
  await requests.deny(id, john.id)
  expect(await requests.all(id)).toEqual([])
  expect(await api[`${kind}Members`].show(id, jane.id)).toMatchObject({ access_level: 20 })
  await expect(api[`${kind}Members`].show(id, john.id)).rejects.toMatchObject(refusal(404, '404 Not found'))
  await api[`${kind}Members`].remove(id, jane.id)
}

export async function inviteSomebody({ api }: World, kind: Kind, id: number): Promise<void> {
  const invitations = api[`${kind}Invitations`]
  const email = 'gb-guest@example.com'
  expect(await invitations.add(id, 10, { email })).toMatchObject({ status: 'success' })
  expect(await invitations.add(id, 10, { email })).toMatchObject({
    status: 'error',
    message: { [email]: expect.any(String) },
  })
  await invitations.edit(id, email, { accessLevel: 30 })
  expect(await invitations.all(id)).toMatchObject([{ invite_email: email, access_level: 30 }])
  await invitations.remove(id, email)
  expect(await invitations.all(id)).toEqual([])
}

export async function linkDirectory({ api }: World, group: number): Promise<void> {
  const links = api.GroupLDAPLinks
  const link = { cn: 'all staff', group_access: 30, provider: 'ldapmain', filter: null }
  expect(await links.add(group, 30, 'ldapmain', { cn: 'all staff' })).toEqual(link)
  expect(await links.all(group, {})).toEqual([link])
  await links.sync(group)
  await links.remove(group, 'ldapmain', { cn: 'all staff' })
  expect(await links.all(group, {})).toEqual([])
}

export async function makeProjects({ api, jane, john }: World, group: number) {
  const own = await api.Projects.create({ name: 'Gb Own' })
  expect(own).toMatchObject({ path_with_namespace: 'root/gb-own', visibility: 'private' })
  for (const n of [0, 1, 2, 3, 4]) {
    await api.Projects.create({ name: `Gb Tool ${n}`, namespaceId: group, visibility: n < 3 ? 'public' : 'private' })
  }
  const gift = await api.Projects.create({ name: 'Gb Gift', userId: john.id })
  expect(gift.path_with_namespace).toBe('gb-john/gb-gift')
  const tool = await api.Projects.show('gb-shed/gb-tool-0')
  expect(await api.Projects.show(tool.id)).toMatchObject({ id: tool.id, name: 'Gb Tool 0' })
  await expect(api.Projects.create({ name: 'Gb Own' })).rejects.toMatchObject(refusal(400, 'has already been taken'))

  const newest = ['gb-gift', 'gb-tool-4', 'gb-tool-3', 'gb-tool-2', 'gb-tool-1', 'gb-tool-0', 'gb-own']
  expect(pathsOf(await api.Projects.all({ perPage: 3 }))).toEqual(newest)
  const byKeyset = await api.Projects.all({ perPage: 3, pagination: 'keyset', orderBy: 'id', sort: 'asc' })
  expect(byKeyset.map(({ id }) => id)).toEqual(byKeyset.map(({ id }) => id).toSorted((a, b) => a - b))
  expect(byKeyset).toHaveLength(newest.length)
  const second = { pagination: 'offset', perPage: 3, page: 2, maxPages: 1, showExpanded: true } as const
  const { paginationInfo } = await api.Projects.all(second)
  expect(paginationInfo).toMatchObject({ total: 7, totalPages: 3, current: 2, next: 3, previous: 1, perPage: 3 })
  expect(pathsOf(await api.Projects.search('tool 3'))).toEqual(['gb-tool-3'])
  for (const [filters, expected] of [
    [{ visibility: 'public' }, ['gb-tool-2', 'gb-tool-1', 'gb-tool-0']],
    [{ owned: true, search: 'own' }, ['gb-own']],
    [{ orderBy: 'name', sort: 'asc', perPage: 2, maxPages: 1 }, ['gb-gift', 'gb-own']],
    [{ userId: `${john.id}` }, ['gb-gift']],
    [{ archived: true }, []],
    [{ starred: true }, []],
  ] as const) {
    expect([filters, pathsOf(await api.Projects.all({ ...filters }))]).toEqual([filters, expected])
  }
  expect((await api.Projects.all({ simple: true, search: 'own' }))[0]).not.toHaveProperty('visibility')
  expect(await api.Groups.allProjects(group)).toHaveLength(5)
  expect(pathsOf(await jane.api.Projects.all())).toEqual(['gb-tool-2', 'gb-tool-1', 'gb-tool-0'])
  return { tool: tool.id, own: own.id }
}

export async function changeAttributes({ api, url, picture }: World, id: number): Promise<void> {
  const switches = {
    issues_enabled: false,
    jobs_enabled: false,
    wiki_enabled: false,
    snippets_enabled: false,
    container_registry_enabled: false,
    shared_runners_enabled: false,
    lfs_enabled: false,
    resolve_outdated_diff_discussions: true,
    request_access_enabled: true,
    only_allow_merge_if_pipeline_succeeds: true,
    only_allow_merge_if_all_discussions_are_resolved: true,
    remove_source_branch_after_merge: false,
  }
  const texts = { name: 'Gb Saw', path: 'gb-saw', description: 'cuts', visibility: 'internal', merge_method: 'ff' }
  const input = { ...switches, ...texts, ci_config_path: 'ci/main.yml', topics: ['wood', 'sharp'] }
  // The client accepts names in either case.
  await api.Projects.edit(id, { ...input, publicBuilds: false, approvalsBeforeMerge: 2 } as object)
  expect(await api.Projects.show(id)).toMatchObject({
    ...input,
    tag_list: ['wood', 'sharp'],
    public_jobs: false,
    approvals_before_merge: 2,
  })
  await api.Projects.uploadAvatar(id, picture)
  expect((await api.Projects.show(id)).avatar_url).toBe(`${url}/uploads/-/system/project/avatar/${id}/avatar.png`)
  await api.Projects.removeAvatar(id)
  expect((await api.Projects.show(id)).avatar_url).toBeNull()
  await api.Projects.edit(id, { visibility: 'public' })
}

export async function changeUserState({ api }: World, id: number, own: number): Promise<void> {
  expect(await api.Projects.star(id)).toMatchObject({ star_count: 1 })
  expect(pathsOf(await api.Projects.all({ starred: true }))).toEqual(['gb-saw'])
  expect(await api.Projects.allStarrers(id)).toMatchObject([{ user: { username: 'root' } }])
  expect(await api.Projects.unstar(id)).toMatchObject({ star_count: 0 })
  expect(await api.Projects.archive(id)).toMatchObject({ archived: true })
  expect(pathsOf(await api.Projects.all({ archived: true }))).toEqual(['gb-saw'])
  expect(await api.Projects.unarchive(id)).toMatchObject({ archived: false })

  const friends = await api.Groups.create('Gb Friends', 'gb-friends')
  await api.Projects.share(own, friends.id, 30, { expiresAt: '2999-01-01' })
  const share = { group_id: friends.id, group_access_level: 30, expires_at: '2999-01-01' }
  expect((await api.Projects.show(own)).shared_with_groups).toMatchObject([share])
  expect(pathsOf(await api.Groups.allProjects(friends.id))).toEqual(['gb-own'])
  await api.Projects.unshare(own, friends.id)
  expect((await api.Projects.show(own)).shared_with_groups).toEqual([])
  await api.Groups.transferProject(friends.id, own)
  expect((await api.Projects.show(own)).path_with_namespace).toBe('gb-friends/gb-own')
  await api.Projects.housekeeping(own)
  await api.Groups.remove(friends.id)
  await expect(api.Projects.show(own)).rejects.toMatchObject(refusal(404, '404 Project Not Found'))
}

export async function forkAndUnlink({ api, jane }: World, id: number): Promise<void> {
  const fork = await jane.api.Projects.fork(id)
  expect(fork).toMatchObject({ path_with_namespace: 'gb-jane/gb-saw', forked_from_project: { id } })
  await until(async () => (await api.Projects.show(fork.id)).import_status === 'finished')
  expect((await api.Projects.allForks(id)).map((one) => one.id)).toEqual([fork.id])
  await api.Projects.removeForkRelationship(fork.id)
  expect(await api.Projects.show(fork.id)).not.toHaveProperty('forked_from_project')
  await api.Projects.createForkRelationship(fork.id, id)
  expect(await api.Projects.show(fork.id)).toMatchObject({ forked_from_project: { id } })
  await api.Projects.remove(fork.id)
  await expect(api.Projects.show(fork.id)).rejects.toMatchObject(refusal(404, '404 Project Not Found'))
}

export async function changeHooks({ api }: World, id: number): Promise<void> {
  const hooks = api.ProjectHooks
  const url = 'https://ci.example/hook'
  const hook = await hooks.add(id, url, { pushEvents: false, noteEvents: true, token: 'secret' })
  expect(hook).toMatchObject({ url, push_events: false, note_events: true })
  await hooks.edit(id, hook.id, `${url}/other`, { issuesEvents: true, enableSslVerification: false })
  expect(await hooks.show(id, hook.id)).toMatchObject({
    url: `${url}/other`,
    push_events: false,
    note_events: true,
    issues_events: true,
    enable_ssl_verification: false,
  })
  expect(await hooks.all(id)).toHaveLength(1)
  await expect(hooks.add(id, 'ftp://ci.example')).rejects.toMatchObject(refusal(422, 'Invalid url given'))
  await hooks.remove(id, hook.id)
  expect(await hooks.all(id)).toEqual([])
}

export async function changePushRule({ api }: World, id: number): Promise<void> {
  const rules = api.ProjectPushRules
  const input = { deny_delete_tag: true, commit_message_regex: '^[A-Z]', max_file_size: 10 }
  const rule = await rules.create(id, { denyDeleteTag: true, commitMessageRegex: '^[A-Z]', maxFileSize: 10 })
  expect(rule).toMatchObject(input)
  await rules.edit(id, { preventSecrets: true })
  expect(await rules.show(id)).toMatchObject({ ...input, prevent_secrets: true })
  await rules.remove(id)
  expect(await rules.show(id)).toEqual({}) // the client's representation of null
}

export async function uploadFiles({ api, picture }: World, id: number): Promise<void> {
  const image = await api.Projects.uploadForReference(id, picture)
  expect(image).toMatchObject({ alt: 'avatar', markdown: `![avatar](${image.url})` })
  const text = { content: new Blob(['saw it in half']), filename: 'plan.txt' }
  expect(await api.Projects.uploadForReference(id, text)).toMatchObject({ alt: 'plan.txt' })
}

export async function lookAround({ api }: World, group: number): Promise<void> {
  expect(await api.Namespaces.show(group)).toMatchObject({ full_path: 'gb-shed', kind: 'group' })
  expect(await api.Namespaces.show('gb-jane')).toMatchObject({ kind: 'user' })
  const found = await api.Namespaces.all({ search: 'gb-' })
  expect(found.map(({ path }) => path).toSorted()).toEqual(['gb-jane', 'gb-john', 'gb-shed'])
  expect(await api.Namespaces.exists('gb-shed')).toMatchObject({ exists: true })
  expect(await api.Namespaces.exists('gb-barn')).toMatchObject({ exists: false })

  expect((await api.LicenseTemplates.all()).map(({ key }) => key)).toContain('mit')
  const license = await api.LicenseTemplates.show('mit', { project: 'Gb Saw', fullname: 'Jane Doe' } as object)
  expect(license.content).toContain('Jane Doe')
  for (const [templates, key, part] of [
    [api.GitignoreTemplates, 'Ruby', '*.gem'],
    [api.GitLabCIYMLTemplates, 'Ruby', 'script'],
    [api.DockerfileTemplates, 'Binary', 'FROM'],
  ] as const) {
    expect((await templates.all()).map(({ name }) => name)).toContain(key)
    expect((await templates.show(key)).content).toContain(part)
  }
}

/** Returns the paths of the remaining projects. */
export async function endWorld({ api, jane, john }: World, group: number): Promise<string[]> {
  await api.Groups.remove(group)
  await until(async () => (await api.Groups.all()).length === 0)
  const left = pathsOf(await api.Projects.all())
  for (const { id } of [jane, john]) await api.Users.remove(id, { hardDelete: true })
  return left
}
