import { execFileSync } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { LfsClient, authorizationOf, objectOf, type LfsObject } from '../../../../test/lfs.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const pointerOf = ({ oid, size }: LfsObject) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`

const FILM = objectOf('a film, frame by frame\n'.repeat(20_000))
const ELSEWHERE = objectOf('of another project\n')

/** A project with a pointer to its own content, a pointer to content of another project only, and a plain file. */
async function scene(forge: TestForge) {
  const project = await forge.project({ visibility: 'public' })
  const other = await forge.project()
  const files = {
    'film.mp4': pointerOf(FILM),
    'gone.mp4': pointerOf(ELSEWHERE),
    'a.txt': 'plain\n',
    '.gitattributes': '*.mp4 filter=lfs -text\n',
    "b's/$HOME.mp4": pointerOf(FILM),
    'c/plain.mp4': 'no pointer\n',
    'c/copy.txt': pointerOf(FILM),
  }
  const dir = await fillProject(forge, project.id, { files })
  const authorization = authorizationOf(forge.administrator)
  const send = async ({ path_with_namespace: path }: { path_with_namespace: string }, object: LfsObject) =>
    expect((await new LfsClient(forge, path, authorization).put(object)).status).toBe(200)
  await send(project, FILM)
  await send(other, ELSEWHERE)
  const base = `/projects/${project.id}/repository`
  const ways = async (path: string) => [
    `${base}/files/${path}/raw`,
    `${base}/blobs/${await runGit([`--git-dir=${dir}`, 'rev-parse', `master:${path}`])}/raw`,
  ]
  return { project, base, ways }
}

test('asked for it, raw content is what the pointer stands for', async () => {
  await using forge = await startForge()
  const { ways } = await scene(forge)
  for (const way of await ways('film.mp4')) {
    const { status, body, headers } = await forge.visitor.get(way, { lfs: true })
    expect([way, status, body === FILM.content.toString()]).toEqual([way, 200, true])
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-length': String(FILM.size),
      'content-type': expect.stringMatching(/^text\/plain/),
      'content-disposition': expect.stringMatching(/^inline\b/),
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    })
    for (const input of [{}, { lfs: false }, { lfs: '' }]) {
      expect([way, input, (await forge.visitor.get(way, input)).body]).toEqual([way, input, pointerOf(FILM)])
    }
    expect((await forge.visitor.head(`${way}?lfs=true`)).headers.get('content-length')).toBe(String(FILM.size))
  }
  const [file] = await ways('film.mp4')
  const { headers } = await forge.visitor.get(file!, { lfs: true })
  expect([headers.get('x-gitlab-size'), headers.get('x-gitlab-content-sha256')]).toEqual([`${FILM.size}`, FILM.oid])
})

test('an archive holds what its pointers stand for, unless that is left out', async () => {
  await using forge = await startForge()
  const { project, base } = await scene(forge)
  const archive = (query: string) => fetch(`${forge.url}/api/v4${base}/${query}`)
  const unpacked = async (query: string) => {
    const input = Buffer.from(await (await archive(query)).arrayBuffer())
    const tar = (...args: string[]) => execFileSync('tar', ['-z', '-f', '-', ...args], { input }).toString()
    const names = tar('--list').trim().split('\n')
    const files = names.filter((name) => !/\/$|gitattributes/.test(name))
    const contents = files.map((name) => tar('--extract', '--to-stdout', name))
    return Object.fromEntries(contents.map((content, n) => [files[n]!.replace(/^[^/]+\//, ''), content]))
  }
  const pointers = {
    'a.txt': 'plain\n',
    "b's/$HOME.mp4": pointerOf(FILM),
    'c/copy.txt': pointerOf(FILM),
    'c/plain.mp4': 'no pointer\n',
    'film.mp4': pointerOf(FILM),
    'gone.mp4': pointerOf(ELSEWHERE),
  }
  const film = FILM.content.toString()
  // Attributes decide whether Git LFS handles a file.
  expect(await unpacked('archive')).toEqual({ ...pointers, 'film.mp4': film, "b's/$HOME.mp4": film })
  expect(await unpacked('archive.tgz?path=film.mp4')).toEqual({ 'film.mp4': film })
  expect(await unpacked('archive?include_lfs_blobs=false')).toEqual(pointers)
  const zip = await archive('archive.zip')
  expect((await zip.arrayBuffer()).byteLength).toBeGreaterThan(0)
  const tags = [zip, await archive('archive.zip?include_lfs_blobs=0')].map(({ headers }) => headers.get('etag'))
  expect(tags[0]).not.toBe(tags[1])
  expect(await readdir(join(forge.app.config.data, 'spool')).catch(() => [])).toEqual([])

  await forge.administrator.put(`/projects/${project.id}`, { lfs_enabled: false })
  expect(await unpacked('archive')).toEqual(pointers)
})

test('a pointer opens no content of another project; what is no pointer is itself', async () => {
  await using forge = await startForge()
  const { project, ways } = await scene(forge)
  for (const way of await ways('gone.mp4')) {
    expect([way, await forge.administrator.get(way, { lfs: true })]).toMatchObject([
      way,
      { status: 404, body: { message: '404 File Not Found' } },
    ])
  }
  for (const way of await ways('a.txt')) {
    expect([way, (await forge.visitor.get(way, { lfs: true })).body]).toEqual([way, 'plain\n'])
  }
  const unknown = `/projects/${project.id}/repository/blobs/${'0'.repeat(40)}/raw`
  expect(await forge.visitor.get(unknown, { lfs: true })).toMatchObject({ body: { message: '404 Blob Not Found' } })

  await forge.administrator.put(`/projects/${project.id}`, { lfs_enabled: false })
  for (const way of await ways('film.mp4')) {
    expect([way, (await forge.visitor.get(way, { lfs: true })).body]).toEqual([way, pointerOf(FILM)])
  }
})
