"""SET and RESET, and modules."""

from __future__ import annotations

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import STRING, Field
from firesteel.sql.statements.session import LoadModule, ResetOption, SetOption, UnloadModule, UseModules
from firesteel.table.module import Module, module_of
from firesteel.table.session import CORE, Session
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution, options_of
from firesteel.table.table_result import TableResult


def set_option(statement: SetOption, execution: Execution) -> TableResult:
    """Set an option, or list all of them."""
    config = execution.session.config
    if statement.key is None or statement.value is None:
        fields = (Field("key", STRING), Field("value", STRING))
        return answers.table(fields, sorted(config.to_map().items()))
    with execution.at(statement.span):
        config.set(statement.key, statement.value)
    return answers.ok()


def reset_option(statement: ResetOption, execution: Execution) -> TableResult:
    """Give one option, or all of them, the value that it had when the session began."""
    config, defaults = execution.session.config, execution.session.defaults
    keys = config.to_map() if statement.key is None else (statement.key,)
    for key in keys:
        if key in defaults:
            config.set(key, defaults[key])
        else:
            config.unset(key)
    return answers.ok()


def load_module(statement: LoadModule, execution: Execution) -> TableResult:
    """Load a module of functions, and use it after the others."""
    name = statement.module.parts[0]
    with execution.at(statement.module.span):
        _require_new(name, execution.session)
        options = options_of(statement.options)
        load(name, Module(CORE) if name == CORE else module_of(name, options), execution.session)
        execution.session.module_options[name] = options
    return answers.ok()


def load(name: str, module: Module, session: Session) -> None:
    """Load a module under a name. Raises ProgramError if one of this name is loaded."""
    _require_new(name, session)
    session.loaded[name] = module
    session.modules.append(name)


def _require_new(name: str, session: Session) -> None:
    if name in session.loaded:
        raise ProgramError("requires a module that is not loaded yet", got=name)


def unload_module(statement: UnloadModule, execution: Execution) -> TableResult:
    """Unload a module."""
    session, name = execution.session, statement.module.parts[0]
    with execution.at(statement.module.span):
        _require_loaded(name, execution)
    del session.loaded[name]
    session.module_options.pop(name, None)
    session.modules = [module for module in session.modules if module != name]
    return answers.ok()


def use_modules(statement: UseModules, execution: Execution) -> TableResult:
    """Choose the modules in which functions are looked up, and their order."""
    names = []
    for module in statement.modules:
        with execution.at(module.span):
            _require_loaded(module.parts[0], execution)
            if module.parts[0] in names:
                raise ProgramError("requires each module once", got=module.parts[0])
        names.append(module.parts[0])
    execution.session.modules = names
    return answers.ok()


def _require_loaded(name: str, execution: Execution) -> None:
    if name not in execution.session.loaded:
        raise ProgramError("requires a module that is loaded", got=name)
