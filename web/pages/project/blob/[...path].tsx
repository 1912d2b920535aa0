/** A file: its lines, or its rendered form. */
import type { Records } from '../../../api.ts'
import { Code } from '../../../components/Code.tsx'
import { LastCommit } from '../../../components/Commits.tsx'
import { Crumbs } from '../../../components/Crumbs.tsx'
import { RefPicker, loadRefs, type Refs } from '../../../components/RefPicker.tsx'
import { Prose } from '../../../components/State.tsx'
import { projectFrame, type InProject, type Project } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { withQuery } from '../../../query.ts'
import { locationAddress, locationAt, rawAddress, sizeText, type RefLocation } from '../../../refs.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'
import './[...path].css'

type FileView = Records['FileView']

interface Data {
  location: RefLocation
  file: FileView
  last: Records['Commit'] | null
  refs: Refs
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  async load({ api, params, query }) {
    const id = params.id!
    const location = await locationAt(api, id, params.path!)
    const { ref, path } = location
    const plain = query.has('plain')
    const file = api.get('/projects/{id}/repository/files/{file_path}/view', { id, file_path: path, ref, plain })
    return {
      location,
      file,
      last: file.then(({ last_commit_id: sha }) =>
        api.maybe('/projects/{id}/repository/commits/{sha}', { id, sha, stats: false }),
      ),
      refs: loadRefs(api, id),
    }
  },
  title: ({ file, location }) => t.filePathAtRef(file.file_path, location.ref),
  View: ({ project, location: { ref, path }, file, last, refs, address, query }) => {
    const raw = rawAddress(project, ref, path)
    const isPinned = ref === file.commit_id
    return (
      <>
        <div class="code-head">
          <RefPicker project={project} refs={refs} current={ref} kind="blob" path={path} />
          <Crumbs project={project} refName={ref} path={path} />
          <a class="button" data-key="t" title={common.keyT} href={locationAddress(project, 'find_file', ref)}>
            {common.findFile}
          </a>
        </div>
        {last && (
          <LastCommit project={project} commit={last} history={locationAddress(project, 'commits', ref, path)} />
        )}
        <section class="card" aria-label={file.file_name}>
          <header class="file-head">
            <span class="quiet">
              {file.lines && t.linesCounted(file.lines.length, file.is_cut)}
              {sizeText(file.size)}
              {file.execute_filemode && t.executable}
            </span>
            <span class="row">
              {(file.kind === 'markdown' || file.kind === 'drawing') && (
                <a class="button" href={withQuery(address, { plain: query.has('plain') ? null : '1' })}>
                  {query.has('plain') ? t.rendered : common.source}
                </a>
              )}
              <a class="button" href={raw}>
                {common.raw}
              </a>
              {file.lines && (
                <a class="button" href={locationAddress(project, 'blame', ref, path)}>
                  {t.blame}
                </a>
              )}
              {!isPinned && (
                <a class="button" href={locationAddress(project, 'blob', file.commit_id, path)}>
                  {t.permalink}
                </a>
              )}
              {project.can.push && !isPinned && (
                <a class="button" href={locationAddress(project, 'edit', ref, path)}>
                  {common.edit}
                </a>
              )}
            </span>
          </header>
          <Content project={project} file={file} raw={raw} />
        </section>
      </>
    )
  },
})

function Content({ file, raw }: { project: Project; file: FileView; raw: string }) {
  if (file.html !== null) return <Prose html={file.html} />
  if (file.kind === 'image' || file.picture)
    return (
      <p class="picture">
        <img src={file.picture ?? raw} alt={file.file_name} />
      </p>
    )
  if (file.lines)
    return (
      <>
        <Code lines={file.lines} label={file.file_name} />
        {file.is_cut && (
          <p class="diff-note">{rich(t.thisFileIsTruncatedView, { link: (text) => <a href={raw}>{text}</a> })}</p>
        )}
      </>
    )
  if ((file.kind === 'pdf' || file.kind === 'large') && /\.pdf$/i.test(file.file_name))
    return (
      <>
        <iframe class="document" src={`${raw}&pdf=true`} title={file.file_name} />
        <p class="diff-note">
          <a href={raw} download={file.file_name}>
            {' '}
            {common.download}{' '}
          </a>
        </p>
      </>
    )
  return (
    <p class="diff-note">
      {WORDS[file.kind] ?? t.thisFileCannotBeDisplayed}{' '}
      <a href={file.kind === 'lfs' ? `${raw}&lfs=true` : raw} download={file.file_name}>
        {' '}
        {common.download}{' '}
      </a>
    </p>
  )
}

const WORDS: Partial<Record<FileView['kind'], string>> = {
  pdf: t.pdfDocumentNotShown,
  binary: t.binaryFileNotShownSentence,
  large: t.thisFileIsTooLarge,
}
