/** The progress of an import. */
import { useEffect, useRef } from 'preact/hooks'
import type { Records } from '../../api.ts'
import { useSurroundings } from '../../surroundings.ts'
import { ActButton } from '../../components/Form.tsx'
import { State } from '../../components/State.tsx'
import { projectFrame, type InProject } from '../../layout/project.tsx'
import { page as declare } from '../../page.ts'
import { pauseOf } from '../../polling.ts'
import * as t from '../../texts/projects.ts'

interface Data {
  state: Records['Import']
  settings: Records['WebSettings']
}

const PAUSE_MS = 2000
const STATES: Record<string, string> = {
  scheduled: 'pending',
  started: 'running',
  finished: 'success',
  failed: 'failed',
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params }) => ({
    state: api.get('/projects/{id}/import', { id: params.id! }),
    settings: api.get('/application/web_settings', {}),
  }),
  title: () => t.importLabel,
  View: ({ state, settings }) => {
    const { reload } = useSurroundings()
    const isUnderWay = state.import_status === 'scheduled' || state.import_status === 'started'
    const isFork = state.import_type === 'fork'
    const wasUnderWay = useRef(isUnderWay)
    useEffect(() => {
      // Redirects to the project when the import has finished.
      if (wasUnderWay.current && state.import_status === 'finished') location.replace(`/${state.path_with_namespace}`)
      const pause = pauseOf(settings, PAUSE_MS)
      if (!isUnderWay || pause === null) return
      const timer = setInterval(() => void reload().catch(() => {}), pause)
      return () => clearInterval(timer)
    }, [isUnderWay])
    const name = isFork ? t.fork : t.importLabel
    return (
      <section class="narrow" aria-live="polite">
        <h1>{name}</h1>
        <p>
          {state.import_status === 'none' ? (
            t.thisProjectWasNotImported
          ) : (
            <State of={STATES[state.import_status] ?? state.import_status} />
          )}
        </p>
        {isUnderWay && (
          <>
            <progress max={100} value={state.stats?.progress} aria-label={name} />
            <p class="quiet">{t.repositoryIsCopiedInBackground(isFork ? t.copied : t.imported)}</p>
            {!isFork && (
              <ActButton action="cancel" confirm={t.cancelTheImport}>
                {' '}
                {t.cancelImport}{' '}
              </ActButton>
            )}
          </>
        )}
        {state.import_error && <p class="fault">{state.import_error}</p>}
        {state.import_status === 'failed' && (
          <p>{isFork ? t.deleteThisProjectAndForkAgain : t.checkUrlThenCreateProjectAgain}</p>
        )}
        {!isUnderWay && (
          <a class="button" data-kind="main" href={`/${state.path_with_namespace}`}>
            {t.goToProject}
          </a>
        )}
      </section>
    )
  },
  actions: {
    async cancel({ api, params }) {
      await api.delete('/projects/{id}/import', { id: params.id! })
    },
  },
})
