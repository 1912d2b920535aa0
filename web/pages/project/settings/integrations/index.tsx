import { serviceListPage } from '../../../../components/services/list.tsx'

export const page = serviceListPage('project')
