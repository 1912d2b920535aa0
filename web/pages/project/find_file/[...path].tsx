/** Finds a file by some letters of its name. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { RefPicker, loadRefs, type Refs } from '../../../components/RefPicker.tsx'
import { Empty } from '../../../components/lists.tsx'
import { findPaths, type Hit } from './fuzzy.ts'
import { projectFrame, type InProject, type Project } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { locationAddress, locationAt } from '../../../refs.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'
import './[...path].css'

const SHOWN = 50

interface Data {
  revision: { ref: string; sha: string }
  found: { hits: Hit[]; total: number; isCut: boolean }
  refs: Refs
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  async load({ api, params, query }) {
    const id = params.id!
    const { ref, path, commit } = await locationAt(api, id, params.path!)
    const list = api.get('/projects/{id}/repository/paths', { id, ref: commit.id })
    return {
      revision: { ref, sha: commit.id },
      found: list.then(({ paths, is_cut: isCut }) => ({
        hits: findPaths(paths, query.get('path') ?? path, SHOWN),
        total: paths.length,
        isCut,
      })),
      refs: loadRefs(api, id),
    }
  },
  title: ({ revision }) => t.findFileAtRef(revision.ref),
  View: ({ project, revision, found, refs, query }) => {
    return (
      <>
        <div class="code-head">
          <RefPicker project={project} refs={refs} current={revision.ref} kind="find_file" />
          <h1 class="crumbs">{t.findFile}</h1>
          <a class="button" href={locationAddress(project, 'tree', revision.ref)}>
            {t.allFiles}
          </a>
        </div>
        <Finder project={project} revision={revision} found={found} typed={query.get('path') ?? ''} />
        {found.isCut && <p class="quiet">{t.onlyFirstFilesAreSearched(found.total)}</p>}
      </>
    )
  },
})

interface FinderProps extends Pick<Data, 'revision' | 'found'> {
  project: Project
  typed: string
}

/** All paths are loaded once; then the browser searches at each keystroke. */
function Finder({ project, revision, found, typed }: FinderProps) {
  const [text, setText] = useState(typed)
  const [paths, setPaths] = useState<string[] | null>(null)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const address = `/api/v4/projects/${project.id}/repository/paths?ref=${revision.sha}`
    void fetch(address).then(async (answer) => {
      if (answer.ok) setPaths(((await answer.json()) as { paths: string[] }).paths)
    })
    box.current?.querySelector('input')?.focus()
  }, [revision.sha])
  const hits = paths ? findPaths(paths, text, SHOWN) : found.hits
  const address = (path: string) => locationAddress(project, 'blob', revision.ref, path)
  const move = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    event.preventDefault()
    const stops = [...box.current!.querySelectorAll<HTMLElement>('input, .finder-list a')]
    const next = stops.indexOf(document.activeElement as HTMLElement) + (event.key === 'ArrowDown' ? 1 : -1)
    stops[Math.max(0, Math.min(next, stops.length - 1))]?.focus()
  }
  return (
    <div class="finder" ref={box} onKeyDown={move}>
      <form
        role="search"
        class="row"
        onSubmit={(event) => {
          if (!paths || !hits[0]) return
          event.preventDefault()
          location.assign(address(hits[0].path))
        }}
      >
        <input
          type="search"
          name="path"
          value={text}
          aria-label={t.pathContains}
          placeholder={t.pathContains}
          autocomplete="off"
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button class="button" data-kind="main">
          {' '}
          {common.search}{' '}
        </button>
      </form>
      <p class="spoken" role="status">
        {hits.length === SHOWN ? t.shownOrMoreFiles(SHOWN) : t.fileCount(hits.length)}
      </p>
      {hits.length === 0 ? (
        <Empty title={t.noMatchingFiles}>
          <p>{t.tryShorterSearchTermCharacters}</p>
        </Empty>
      ) : (
        <ol class="finder-list card">
          {hits.map(({ path, at }) => (
            <li key={path}>
              <a href={address(path)}>
                <Marked path={path} at={at} />
              </a>
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}

/** Highlights the matched letters; adjacent ones as one. */
function Marked({ path, at }: Hit) {
  const positions = new Set(at)
  const parts: { text: string; isMarked: boolean }[] = []
  for (let n = 0; n < path.length; n++) {
    const isMarked = positions.has(n)
    if (parts.at(-1)?.isMarked === isMarked) parts.at(-1)!.text += path[n]
    else parts.push({ text: path[n]!, isMarked })
  }
  return (
    <>{parts.map(({ text, isMarked }, n) => (isMarked ? <mark key={n}>{text}</mark> : <span key={n}>{text}</span>))}</>
  )
}
