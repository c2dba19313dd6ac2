"""Deploys a contract and has it verified, as a user of moccasin does; prints its address last."""

from moccasin.config import get_active_network
from src import Shelf


def moccasin_main():
    contract = Shelf.deploy(9)
    get_active_network().moccasin_verify(contract).wait_for_verification()
    print(contract.address)
