import { groupSettingsFrame, projectSettingsFrame } from '../../layout/settings.tsx'
import type { Drawn, Frame } from '../../page.ts'

export type ServicePlace = 'project' | 'group'

export const servicesFrame = (place: ServicePlace): Frame =>
  place === 'project' ? projectSettingsFrame : groupSettingsFrame

export const servicesAddress = (place: ServicePlace, { id }: Drawn['params']) =>
  `${place === 'project' ? '' : '/groups'}/${id}/-/settings/integrations`
