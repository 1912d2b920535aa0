/** Drives a running Mortise with gitbeaker: repository settings, from protection to the wiki. */
import { expect } from 'vitest'
import { sshKey } from '../samples.ts'
import { until } from '../start/command.ts'
import { refusal, type World } from './gitbeaker-tree.ts'

const namesOf = (things: { name: string }[]) => things.map(({ name }) => name)
const levelsOf = (entries: unknown) =>
  (entries as { access_level: number | null; user_id: number | null }[]).map((one) => one.user_id ?? one.access_level)

/** A project with one file in which jane is a developer. */
export async function makeProject({ api, jane }: World): Promise<number> {
  const { id } = await api.Projects.create({ name: 'Gb Rules', visibility: 'public' })
  await api.ProjectMembers.add(id, 30, { userId: jane.id })
  await api.RepositoryFiles.create(id, 'README.md', 'master', '# Rules\n', 'Begin')
  return id
}

export async function protectBranches({ api, jane }: World, id: number): Promise<void> {
  const { ProtectedBranches } = api
  const input = { pushAccessLevel: 0, mergeAccessLevel: 30, allowForcePush: true } as const
  const rule = await ProtectedBranches.create(id, 'release/*', input)
  expect(rule).toMatchObject({
    name: 'release/*',
    push_access_levels: [{ access_level: 0, access_level_description: 'No one' }],
    merge_access_levels: [{ access_level: 30, access_level_description: 'Developers + Masters' }],
    allow_force_push: true,
  })
  await ProtectedBranches.protect(id, 'hers', {
    allowedToPush: [{ userId: jane.id }],
    allowedToMerge: [{ accessLevel: 40 }],
  })
  const hers = await ProtectedBranches.show(id, 'hers')
  expect([levelsOf(hers.push_access_levels), levelsOf(hers.merge_access_levels)]).toEqual([[jane.id], [40]])
  expect(namesOf(await ProtectedBranches.all(id, { perPage: 1 }))).toEqual(['master', 'release/*', 'hers'])
  expect(namesOf(await ProtectedBranches.all(id, { search: 'rel' }))).toEqual(['release/*'])
  await expect(jane.api.Branches.create(id, 'release/1', 'master')).rejects.toMatchObject(refusal(400, 'not allowed'))
  expect(await jane.api.Branches.create(id, 'hers', 'master')).toMatchObject({ protected: true, can_push: true })

  const [nobody] = rule.push_access_levels as { id: number }[]
  const edited = await ProtectedBranches.edit(id, 'release/*', {
    allowForcePush: false,
    allowedToPush: [{ id: nobody!.id, _destroy: true } as never, { userId: jane.id }],
  })
  expect(edited).toMatchObject({ allow_force_push: false, push_access_levels: [{ user_id: jane.id }] })
  expect(await jane.api.Branches.create(id, 'release/1', 'master')).toMatchObject({ protected: true })
  await ProtectedBranches.unprotect(id, 'release/*')
  await ProtectedBranches.remove(id, 'hers')
  expect(namesOf(await ProtectedBranches.all(id))).toEqual(['master'])
  await expect(ProtectedBranches.show(id, 'hers')).rejects.toMatchObject(refusal(404, '404 Not found'))
}

export async function protectTags({ api, jane }: World, id: number): Promise<void> {
  const { ProtectedTags } = api
  const rule = await ProtectedTags.create(id, 'v*', { createAccessLevel: 40 })
  expect(rule).toMatchObject({ name: 'v*', create_access_levels: [{ access_level: 40 }] })
  await ProtectedTags.protect(id, 'w*', { allowedToCreate: [{ userId: jane.id }] })
  expect(levelsOf((await ProtectedTags.show(id, 'w*')).create_access_levels)).toEqual([jane.id])
  expect(namesOf(await ProtectedTags.all(id, { perPage: 1 }))).toEqual(['v*', 'w*'])
  await expect(jane.api.Tags.create(id, 'v1', 'master')).rejects.toMatchObject(refusal(400, 'as it is protected'))
  expect(await jane.api.Tags.create(id, 'w1', 'master')).toMatchObject({ name: 'w1', protected: true })
  await ProtectedTags.unprotect(id, 'v*')
  await ProtectedTags.remove(id, 'w*')
  expect(await ProtectedTags.all(id)).toEqual([])
}

export async function publishReleases({ api, url }: World, id: number): Promise<void> {
  const { ProjectReleases, ReleaseLinks } = api
  const readme = `${url}/api/v4/projects/${id}/repository/files/README.md/raw?ref=master`
  const made = await ProjectReleases.create(id, {
    tagName: 'r/1.0',
    ref: 'master',
    name: 'One',
    description: 'First',
    tagMessage: 'The first',
    assets: { links: [{ name: 'Readme', url: readme, linkType: 'runbook', directAssetPath: '/docs/readme.md' }] },
  } as object)
  expect(made).toMatchObject({
    tag_name: 'r/1.0',
    name: 'One',
    assets: { count: 5, links: [{ link_type: 'runbook' }] },
  })
  expect(await api.Tags.show(id, 'r/1.0')).toMatchObject({ message: 'The first', release: { description: 'First' } })
  expect(await ProjectReleases.edit(id, 'r/1.0', { name: 'The first' } as object)).toMatchObject({ name: 'The first' })
  expect(await ProjectReleases.show(id, 'r/1.0')).toMatchObject({ name: 'The first', description: 'First' })
  await ProjectReleases.create(id, { tagName: 'w1', releasedAt: '2001-01-01T00:00:00Z' } as object)
  const tags = (await ProjectReleases.all(id, { perPage: 1 })).map(({ tag_name }) => tag_name)
  expect(tags).toEqual(['r/1.0', 'w1'])
  expect(await ProjectReleases.showLatest(id)).toMatchObject({ tag_name: 'r/1.0' })
  for (const content of [
    await ProjectReleases.download(id, 'r/1.0', 'docs/readme.md'),
    await ProjectReleases.downloadLatest(id, 'docs/readme.md'),
  ]) {
    expect(content).toBe('# Rules\n')
  }

  const link = await ReleaseLinks.create(id, 'r/1.0', 'Saw', 'https://files.example/saw.zip', { linkType: 'package' })
  expect(link).toMatchObject({ name: 'Saw', url: 'https://files.example/saw.zip', link_type: 'package' })
  await ReleaseLinks.edit(id, 'r/1.0', link.id, { name: 'The saw', directAssetPath: '/bin/saw.zip' })
  expect(await ReleaseLinks.show(id, 'r/1.0', link.id)).toMatchObject({
    name: 'The saw',
    direct_asset_url: `${url}/api/v4/projects/${id}/releases/r%2F1.0/downloads/bin/saw.zip`,
  })
  expect(namesOf(await ReleaseLinks.all(id, 'r/1.0')).toSorted()).toEqual(['Readme', 'The saw'])
  await ReleaseLinks.remove(id, 'r/1.0', link.id)
  expect(namesOf(await ReleaseLinks.all(id, 'r/1.0'))).toEqual(['Readme'])
  await ProjectReleases.remove(id, 'w1')
  await expect(ProjectReleases.show(id, 'w1')).rejects.toMatchObject(refusal(404, '404 Not Found'))
}

export async function changeKeys({ api, jane }: World, id: number): Promise<void> {
  const { DeployKeys, Keys } = api
  const text = sshKey()
  const key = await DeployKeys.create(id, 'robot', text, { canPush: true })
  expect(key).toMatchObject({ title: 'robot', key: text, can_push: true })
  await DeployKeys.edit(id, key.id, { title: 'robot 2', canPush: false })
  expect(await DeployKeys.show(id, key.id)).toMatchObject({ title: 'robot 2', can_push: false })
  const { id: other } = await api.Projects.create({ name: 'Gb Other' })
  expect(await DeployKeys.enable(other, key.id)).toMatchObject({ id: key.id })
  expect(await DeployKeys.all({ projectId: other })).toMatchObject([{ id: key.id, title: 'robot 2' }])
  expect(await DeployKeys.all()).toMatchObject([{ id: key.id, projects_with_write_access: [] }])
  for (const project of [id, other]) await DeployKeys.remove(project, key.id)
  expect(await DeployKeys.all()).toEqual([])
  await api.Projects.remove(other)

  const hers = await api.UserSSHKeys.create('laptop', sshKey(), { userId: jane.id })
  expect(await Keys.show({ keyId: hers.id })).toMatchObject({ title: 'laptop', user: { username: 'gb-jane' } })
}

export async function changeDeployTokens({ api }: World, id: number): Promise<void> {
  const { DeployTokens } = api
  const input = { username: 'reader', expires_at: '2999-01-01T00:00:00Z' }
  const made = await DeployTokens.create('reader', ['read_repository'], { projectId: id, ...input })
  expect(made).toMatchObject({ name: 'reader', username: 'reader', scopes: ['read_repository'], revoked: false })
  expect(made.token).toMatch(/\S{20,}/)
  expect(await DeployTokens.show(made.id, { projectId: id })).toMatchObject({ id: made.id, expired: false })
  expect(namesOf(await DeployTokens.all({ projectId: id, active: true }))).toEqual(['reader'])
  expect(namesOf(await DeployTokens.all())).toEqual(['reader'])
  await DeployTokens.remove(made.id, { projectId: id })
  expect(await DeployTokens.all({ projectId: id })).toEqual([])
}

export async function writeWiki({ api, picture }: World, id: number): Promise<void> {
  const { ProjectWikis } = api
  expect(await ProjectWikis.create(id, '# Welcome\n', 'home')).toMatchObject({ slug: 'home', format: 'markdown' })
  const page = await ProjectWikis.create(id, 'With a saw', 'How to/Saw wood', { format: 'asciidoc' })
  expect(page).toMatchObject({ slug: 'How-to/Saw-wood', title: 'Saw wood', content: 'With a saw' })
  expect((await ProjectWikis.all(id)).map(({ slug }) => slug).toSorted()).toEqual(['How-to/Saw-wood', 'home'])
  expect(await ProjectWikis.all(id, { withContent: true })).toContainEqual(page)
  await ProjectWikis.edit(id, page.slug, { content: 'With a sharp saw' })
  expect(await ProjectWikis.show(id, page.slug)).toMatchObject({ content: 'With a sharp saw', format: 'asciidoc' })
  const attached = await ProjectWikis.uploadAttachment(id, picture)
  expect(attached).toMatchObject({ file_name: 'avatar.png', branch: 'master' })
  expect(attached.link.markdown).toBe(`![avatar](${attached.file_path})`)
  await ProjectWikis.remove(id, page.slug)
  await expect(ProjectWikis.show(id, page.slug)).rejects.toMatchObject(refusal(404, '404 Wiki Page Not Found'))
}

/** Returns the counts at the end. */
export async function tidyUp({ api }: World, id: number) {
  await api.Projects.housekeeping(id)
  const counted = async () => (await api.Projects.show(id, { statistics: true })).statistics
  await until(async () => (await counted())?.commit_count === 1)
  return counted()
}
