/** Drives a running Mortise with gitbeaker: snippets, search, rendered texts and other planning records. */
import { Gitlab } from '@gitbeaker/rest'
import { expect } from 'vitest'
import type { Plan } from './gitbeaker-planning.ts'
import { refusal, type World } from './gitbeaker-tree.ts'

const titlesOf = (things: { title: string }[]) => things.map(({ title }) => title)

export async function keepSnippets({ api, john, url }: World, { id }: Plan): Promise<void> {
  const files = [
    { filePath: 'a.txt', content: 'hello' },
    { filePath: 'b/c.md', content: '# c' },
  ]
  const own = await api.Snippets.create('Two files', { visibility: 'private', description: 'mine', files })
  expect(own).toMatchObject({
    title: 'Two files',
    file_name: 'a.txt',
    visibility: 'private',
    project_id: null,
    files: [{ path: 'a.txt' }, { path: 'b/c.md' }],
    web_url: `${url}/-/snippets/${own.id}`,
  })
  expect(await api.Snippets.showContent(own.id)).toBe('hello')
  expect(await api.Snippets.showRepositoryFileContent(own.id, 'main', 'b/c.md')).toBe('# c')
  const edits = [
    { action: 'move', previousPath: 'a.txt', filePath: 'z.txt' },
    { action: 'delete', filePath: 'b/c.md' },
    { action: 'create', filePath: 'new.txt', content: 'new' },
  ] as const
  const edited = await api.Snippets.edit(own.id, { visibility: 'public', files: [...edits] })
  expect(edited.files!.map(({ path }) => path).toSorted()).toEqual(['new.txt', 'z.txt'])
  expect(await john.api.Snippets.show(own.id)).toMatchObject({ id: own.id, visibility: 'public' })
  expect(titlesOf(await john.api.Snippets.all({ public: true }))).toEqual(['Two files'])
  expect(await john.api.Snippets.all()).toEqual([])
  await expect(john.api.Snippets.remove(own.id)).rejects.toMatchObject(refusal(404, '404 Snippet Not Found'))

  const shared = await api.ProjectSnippets.create(id, 'Of the mill', {
    visibility: 'private',
    files: [{ filePath: 'mill.rb', content: 'puts 1' }],
  })
  expect(shared).toMatchObject({ project_id: id, web_url: `${url}/gb-works/gb-mill/-/snippets/${shared.id}` })
  expect(await api.ProjectSnippets.showContent(id, shared.id)).toBe('puts 1')
  expect(await api.ProjectSnippets.edit(id, shared.id, { description: 'Ours' })).toMatchObject({ description: 'Ours' })
  expect(await api.ProjectSnippets.show(id, shared.id)).toMatchObject({ title: 'Of the mill' })
  expect(titlesOf(await api.ProjectSnippets.all(id))).toEqual(['Of the mill'])
  expect(await john.api.ProjectSnippets.all(id)).toEqual([])
  await expect(john.api.ProjectSnippets.show(id, shared.id)).rejects.toMatchObject(refusal(404, '404 Not found'))
  await api.ProjectSnippets.remove(id, shared.id)
  await expect(api.ProjectSnippets.show(id, shared.id)).rejects.toMatchObject(refusal(404, '404 Not found'))
}

/** Requires a commit on the default branch and the notes of issue 1. */
export async function searchEverywhere({ api, john }: World, { id, group }: Plan): Promise<void> {
  const found = async (scope: string, words: string, place: object, who = api) =>
    (await who.Search.all(scope as 'issues', words, { ...place } as object)) as object[]
  for (const place of [{}, { groupId: group }, { projectId: id }]) {
    expect(await found('issues', 'jams', place)).toMatchObject([{ iid: 1, title: 'It jams often' }])
    expect(await found('milestones', 'v1', place)).toMatchObject([{ title: 'v1' }])
    expect(await found('merge_requests', 'jams', place)).toEqual([])
    expect(await found('issues', 'secret', place)).toMatchObject([{ iid: 2 }])
    expect(await found('issues', 'secret', place, john.api)).toEqual([])
  }
  for (const place of [{}, { groupId: group }]) {
    expect(await found('projects', 'mill', place)).toMatchObject([{ path_with_namespace: 'gb-works/gb-mill' }])
    expect(await found('users', 'gb-jane', place)).toMatchObject([{ username: 'gb-jane' }])
  }
  expect(await found('snippet_titles', 'files', {})).toMatchObject([{ title: 'Two files' }])
  expect(await found('notes', 'thread', { projectId: id })).not.toEqual([])
  await api.RepositoryFiles.create(id, 'docs/saw.md', 'main', 'one\nthe sharpest saw\n', 'Add a saw')
  await api.ProjectWikis.create(id, 'Oil the saw weekly', 'Care')
  expect(await found('commits', 'add a saw', { projectId: id })).toMatchObject([{ title: 'Add a saw' }])
  expect(await found('blobs', 'sharpest', { projectId: id })).toMatchObject([
    { path: 'docs/saw.md', basename: 'docs/saw', filename: 'docs/saw.md', project_id: id },
  ])
  expect(await found('wiki_blobs', 'weekly', { projectId: id })).toMatchObject([{ path: 'Care.md' }])
  await expect(found('nonsense', 'x', {})).rejects.toMatchObject(refusal(400, 'scope does not have a valid value'))
}

export async function renderTexts({ api, john, url }: World): Promise<void> {
  const text = 'see #1 and #2 by @gb-jane :rocket: <script>alert(1)</script>'
  const render = async (who = api) =>
    (await who.Markdown.render(text, { gfm: 'true', project: 'gb-works/gb-mill' })).html
  const html = await render()
  expect(html).toContain(`href="${url}/gb-works/gb-mill/-/issues/1"`)
  expect(html).toContain(`href="${url}/gb-works/gb-mill/-/issues/2"`)
  expect(html).toContain(`href="${url}/gb-jane"`)
  expect(html).not.toContain('<script')
  expect(await render(john.api)).not.toContain('/issues/2')
}

export async function changeNotifications({ api, jane }: World, { id, group }: Plan): Promise<void> {
  const { NotificationSettings } = jane.api
  expect(await NotificationSettings.show()).toEqual({
    level: 'participating',
    notification_email: 'gb-jane@example.com',
    notified_of_own_activity: false,
  })
  for (const place of [{ projectId: id }, { groupId: group }]) {
    expect(await NotificationSettings.show(place)).toEqual({ level: 'global' })
    expect(await NotificationSettings.edit({ ...place, level: 'custom', newNote: true })).toMatchObject({
      level: 'custom',
      events: { new_note: true, close_issue: false, failed_pipeline: true },
    })
    const wrong = NotificationSettings.edit({ ...place, level: 'loud' as 'watch' })
    await expect(wrong).rejects.toMatchObject(refusal(400, "'loud' is not a valid level"))
  }
  expect(await NotificationSettings.edit({ level: 'watch' })).toMatchObject({ level: 'watch' })
  expect((await jane.api.Projects.show(id)).permissions).toMatchObject({ group_access: { notification_level: 5 } })
  expect(await api.NotificationSettings.show({ projectId: id })).toEqual({ level: 'global' })
}

export async function changeTopics({ api, jane }: World, { id }: Plan): Promise<void> {
  const { Topics } = api
  await api.Projects.edit(id, { topics: ['wood'] } as object)
  expect(await Topics.all({ search: 'woo' })).toMatchObject([{ name: 'wood', total_projects_count: 1 }])
  const made = await Topics.create('metal', { title: 'Metal', description: 'Hard' } as object)
  expect(made).toMatchObject({ name: 'metal', title: 'Metal', total_projects_count: 0 })
  expect(await Topics.edit(made.id, { description: 'Harder' })).toMatchObject({ description: 'Harder' })
  expect(await jane.api.Topics.show(made.id)).toMatchObject({ name: 'metal' })
  expect((await Topics.all({ withoutProjects: true })).map(({ name }) => name)).toEqual(['metal'])
  const [wood] = await Topics.all({ search: 'wood' })
  await Topics.merge(made.id, wood!.id)
  await expect(Topics.show(made.id)).rejects.toMatchObject(refusal(404, '404'))
  await expect(jane.api.Topics.create('steel')).rejects.toMatchObject(refusal(403, '403 Forbidden'))
}

export async function changeAccessTokens({ api, jane, url }: World, { id, group }: Plan): Promise<void> {
  for (const [tokens, place] of [
    [api.ProjectAccessTokens, id],
    [api.GroupAccessTokens, group],
  ] as const) {
    const made = await tokens.create(place, 'robot', ['api'], '2999-01-01', { accessLevel: 20 })
    expect(made).toMatchObject({ name: 'robot', scopes: ['api'], active: true, access_level: 20, revoked: false })
    const robot = new Gitlab({ host: url, token: made.token })
    expect(await robot.Issues.create(id, `By a robot of ${place}`)).toMatchObject({ author: { id: made.user_id } })
    expect(await tokens.show(place, made.id)).not.toHaveProperty('token')
    expect((await tokens.all(place)).map((one) => one.id)).toEqual([made.id])
    const rotated = await tokens.rotate(place, made.id, { expiresAt: '2999-02-01' })
    const fresh = new Gitlab({ host: url, token: rotated.token })
    expect(await fresh.Users.showCurrentUser()).toMatchObject({ id: made.user_id })
    await tokens.revoke(place, rotated.id)
    for (const ended of [fresh, robot]) {
      await expect(ended.Users.showCurrentUser()).rejects.toMatchObject(refusal(401, '401 Unauthorized'))
    }
  }
  await expect(jane.api.ProjectAccessTokens.all(id)).rejects.toMatchObject(refusal(401, '401 Unauthorized'))
}

export async function changeCustomAttributes({ api, jane }: World, { id, group }: Plan): Promise<void> {
  for (const [attributes, place] of [
    [api.ProjectCustomAttributes, id],
    [api.GroupCustomAttributes, group],
    [api.UserCustomAttributes, jane.id],
  ] as const) {
    expect(await attributes.set(place, 'place', 'hall 3')).toEqual({ key: 'place', value: 'hall 3' })
    expect(await attributes.show(place, 'place')).toEqual({ key: 'place', value: 'hall 3' })
    expect(await attributes.all(place)).toEqual([{ key: 'place', value: 'hall 3' }])
    await attributes.remove(place, 'place')
    await expect(attributes.show(place, 'place')).rejects.toMatchObject(refusal(404, '404'))
  }
}
