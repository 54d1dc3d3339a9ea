"""Several people on one studio: who may sign in, with which role and group, and the log of what they did."""

from metrics.store.team.audit_log import AuditLog as AuditLog, Outcome as Outcome
from metrics.store.team.team_file import Role as Role, Team as Team, read_team as read_team, team_of as team_of
from metrics.store.team.visitors import (
    NotAllowed as NotAllowed,
    Visitor as Visitor,
    folder_of as folder_of,
    visitor_of as visitor_of,
)
